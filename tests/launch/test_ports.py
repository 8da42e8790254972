"""Ports: free ones, and those that another launcher holds."""

import socket
import threading

import pytest

from unisono_launch.launch._options import UsageError
from unisono_launch.launch._ports import hold_free_ports, hold_port


def test_ports_that_are_held_are_not_given_twice():
    with hold_free_ports(50) as first, hold_free_ports(50) as second:
        assert len({*first, *second}) == 100


def test_a_held_port_can_be_listened_on():
    with hold_free_ports(1) as (port,), socket.create_server(("127.0.0.1", port)):
        pass


def test_a_port_that_another_launcher_holds_is_refused_even_if_nothing_listens():
    with (
        hold_free_ports(1) as (port,),
        pytest.raises(UsageError, match=f"Port {port} of this machine is taken.*--master-port P"),
        hold_port(port),
    ):
        pass
    with hold_port(port):
        pass


def test_a_port_that_is_listened_on_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(UsageError, match="is taken"), hold_port(port):
            pass


@pytest.mark.slow
def test_concurrent_jobs_on_one_machine_get_different_ports(start, tmp_path):
    script = "Path(f'port-{sys.argv[1]}-{rank}').write_text(os.environ['MASTER_PORT']); time.sleep(0.5)"
    results: list[tuple[int, str, str]] = []
    jobs = [start(script, "-n", "2", args=(str(number),)) for number in range(3)]
    threads = [threading.Thread(target=lambda job=job: results.append(job.finish())) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [code for code, _, _ in results] == [0, 0, 0]
    assert len({(tmp_path / f"port-{number}-0").read_text() for number in range(3)}) == 3
    assert len(list((tmp_path / "runs").iterdir())) == 3, "two jobs that start in the same second are two runs"


def test_a_port_whose_last_connection_has_just_ended_is_free() -> None:
    """The side that closes first keeps the port for a minute (TIME_WAIT): a job that is started again must get it."""
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    with socket.create_connection(("127.0.0.1", port)) as client:
        accepted, _ = server.accept()
        accepted.close()
        assert client.recv(1) == b""
    server.close()
    with pytest.raises(OSError, match="in use"), socket.socket() as probe:
        probe.bind(("", port))
    with hold_port(port):
        pass
