from __future__ import annotations

import pytest

from unisono_launch.cluster import expand_hostlist, expand_tasks_per_node


@pytest.mark.parametrize(
    ("hostlist", "hosts"),
    [
        ("n1", ["n1"]),
        ("n1,n2", ["n1", "n2"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("n[9-11]", ["n9", "n10", "n11"]),
        ("n[01-03]", ["n01", "n02", "n03"]),
        ("n[098-101]", ["n098", "n099", "n100", "n101"]),
        ("gnode[10,20,25,37]", ["gnode10", "gnode20", "gnode25", "gnode37"]),
        ("n[1-2],m5,o[3-4,6,7-9]", ["n1", "n2", "m5", "o3", "o4", "o6", "o7", "o8", "o9"]),
        ("n[1-2]-ib.cluster", ["n1-ib.cluster", "n2-ib.cluster"]),
        ("rack[0-1]node[00-01]", ["rack0node00", "rack0node01", "rack1node00", "rack1node01"]),
        ("tux[0-1][2-3]", ["tux02", "tux03", "tux12", "tux13"]),
        ("r[1,2n[3-4],05]", ["r1", "r2n3", "r2n4", "r05"]),
        ("n[2,10]", ["n2", "n10"]),
        ("n2,n1,n2", ["n2", "n1", "n2"]),
        ("ip-10-0-0-[1-2]", ["ip-10-0-0-1", "ip-10-0-0-2"]),
    ],
)
def test_a_hostlist_is_expanded_in_its_order(hostlist: str, hosts: list[str]) -> None:
    assert expand_hostlist(hostlist) == hosts


@pytest.mark.parametrize(
    "hostlist", ["", "n1,,n2", "n1,", "n[1-", "n1]", "n[]", "n[3-1]", "n[a-b]", "n[1,]", "n[[1-2]"]
)
def test_what_is_no_hostlist_is_refused(hostlist: str) -> None:
    with pytest.raises(ValueError, match=r"is not a SLURM hostlist such as 'n\[01-03,7\],login': "):
        expand_hostlist(hostlist)


@pytest.mark.parametrize(
    ("text", "counts"), [("4", [4]), ("2(x3),1", [2, 2, 2, 1]), ("3(x2),2,1", [3, 3, 2, 1]), ("16(x1)", [16])]
)
def test_tasks_per_node_are_expanded(text: str, counts: list[int]) -> None:
    assert expand_tasks_per_node(text) == counts


@pytest.mark.parametrize("text", ["", "x", "2(3)", "2(x)", "2;1"])
def test_what_are_no_tasks_per_node_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not SLURM's number of tasks per node"):
        expand_tasks_per_node(text)
