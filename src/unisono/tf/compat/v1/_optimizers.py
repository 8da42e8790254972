"""The optimizers of `tf.compat.v1.train`, in eager style: Keras's, with TensorFlow 1's arguments and methods.

They can be passed to `model.compile` as well. Their formulas are TensorFlow 1's where these differ from Keras's.
"""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

from unisono._src.tracing.tape import GradientTape

NOT_A_FUNCTION = """{name}.minimize() was given a loss that is computed already. Pass a function without arguments that
computes it, or record it: with tf.GradientTape() as tape: loss = ..., then {name}.apply_gradients(zip(tape.gradient(
loss, variables), variables))."""
NO_GRADIENTS = "{name}.apply_gradients(): no variable has a gradient. Variables: {names}."


class Optimizer:
    """The methods that all optimizers of TensorFlow 1 have."""

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = 1,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """One step: computes the gradients of a function without arguments, and applies them."""
        pairs = self.compute_gradients(loss, var_list, grad_loss=grad_loss)
        return self.apply_gradients(pairs, global_step)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = 1,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
        """Pairs of gradient and variable; without ``var_list``, of all trainable variables that the function reads."""
        if not callable(loss):
            raise RuntimeError(NOT_A_FUNCTION.format(name=type(self).__name__))
        with GradientTape() as tape:
            value = loss()
        variables = list(tape.watched_variables() if var_list is None else var_list)
        return list(zip(tape.gradient(value, variables, grad_loss), variables, strict=True))

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Updates the variables that have a gradient, and adds 1 to ``global_step``."""
        pairs = list(grads_and_vars)
        some = [pair for pair in pairs if pair[0] is not None]
        if not some:
            names = [variable.path for _, variable in pairs]
            raise ValueError(NO_GRADIENTS.format(name=type(self).__name__, names=names))
        this: Any = self
        if not this.built:
            with keras.name_scope(this.name):
                this.build([variable for _, variable in pairs])
        super().apply_gradients(some)  # type: ignore[misc]
        if global_step is not None:
            global_step.assign_add(1)

    def get_name(self) -> Any:
        """The name."""
        this: Any = self
        return this.name

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, for saved models."""
        stored: dict[str, Any] = super().get_config()  # type: ignore[misc]
        return {"learning_rate": stored["learning_rate"], "name": stored["name"], **self._old_arguments}

    _old_arguments: dict[str, Any]


@keras.saving.register_keras_serializable(package="unisono")
class GradientDescentOptimizer(Optimizer, keras.optimizers.SGD):
    """`variable -= learning_rate * gradient`."""

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(to_rate(learning_rate), name=name)
        self._old_arguments = {}


@keras.saving.register_keras_serializable(package="unisono")
class MomentumOptimizer(Optimizer, keras.optimizers.SGD):
    """Adds gradients to a decaying sum, and subtracts that times the learning rate."""

    def __init__(
        self,
        learning_rate: Any,
        momentum: float,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(to_rate(learning_rate), momentum=float(momentum), nesterov=use_nesterov, name=name)
        self._old_arguments = {"momentum": float(momentum), "use_nesterov": use_nesterov}

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """The learning rate is a factor of the whole sum; Keras's is one of each gradient in it."""
        rate = keras.ops.cast(learning_rate, variable.dtype)
        gradient = keras.ops.cast(gradient, variable.dtype)
        total = self.momentums[self._get_variable_index(variable)]
        self.assign(total, self.momentum * keras.ops.convert_to_tensor(total) + gradient)
        change = keras.ops.convert_to_tensor(total)
        self.assign_sub(variable, rate * (gradient + self.momentum * change if self.nesterov else change))


@keras.saving.register_keras_serializable(package="unisono")
class AdamOptimizer(Optimizer, keras.optimizers.Adam):
    """Adam."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(to_rate(learning_rate), beta_1=beta1, beta_2=beta2, epsilon=epsilon, name=name)
        self._old_arguments = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon}


@keras.saving.register_keras_serializable(package="unisono")
class RMSPropOptimizer(Optimizer, keras.optimizers.RMSprop):
    """RMSProp. The mean of squares starts at 1, as in TensorFlow 1; Keras's starts at 0."""

    def __init__(
        self,
        learning_rate: Any,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        rate = to_rate(learning_rate)
        super().__init__(rate, rho=decay, momentum=momentum, epsilon=epsilon, centered=centered, name=name)
        self._old_arguments = {"decay": decay, "momentum": momentum, "epsilon": epsilon, "centered": centered}

    def build(self, var_list: Any) -> None:
        """Creates the variables of the optimizer."""
        if not self.built:
            super().build(var_list)
            for mean in self._velocities:
                mean.assign(keras.ops.ones(mean.shape, mean.dtype))


@keras.saving.register_keras_serializable(package="unisono")
class AdagradOptimizer(Optimizer, keras.optimizers.Adagrad):
    """Adagrad."""

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        super().__init__(to_rate(learning_rate), initial_accumulator_value, epsilon=0.0, name=name)
        self._old_arguments = {"initial_accumulator_value": initial_accumulator_value}


@keras.saving.register_keras_serializable(package="unisono")
class AdadeltaOptimizer(Optimizer, keras.optimizers.Adadelta):
    """Adadelta."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.95,
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(to_rate(learning_rate), rho=rho, epsilon=epsilon, name=name)
        self._old_arguments = {"rho": rho, "epsilon": epsilon}


@keras.saving.register_keras_serializable(package="unisono")
class FtrlOptimizer(Optimizer, keras.optimizers.Ftrl):
    """Follow the regularized leader."""

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
    ) -> None:
        arguments = {
            "learning_rate_power": learning_rate_power,
            "initial_accumulator_value": initial_accumulator_value,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
        }
        super().__init__(to_rate(learning_rate), name=name, **arguments)
        self._old_arguments = arguments


def to_rate(value: Any) -> Any:
    """A learning rate as Keras takes it: a float, a schedule or a function."""
    if callable(value) and not hasattr(value, "dtype"):
        return value
    if isinstance(value, keras.Variable):
        return lambda: keras.ops.convert_to_tensor(value)
    return float(np.asarray(value))
