"""The first thing that every Python process below `dynamo run` executes: arm the engine, then vanish.

`dynamo run` puts this folder first on PYTHONPATH, so `site` imports this file at start-up, before the
program's first line. The folder leaves `sys.path` again, and the program's own `sitecustomize`, if there
is one, is imported in this one's place, so that the program sees what plain Python would show it.
"""

import sys


def _arm() -> None:
    bootstrap_folder = __file__.rpartition("/")[0]
    sys.path[:] = [entry for entry in sys.path if entry != bootstrap_folder]
    sys.path_importer_cache.pop(bootstrap_folder, None)

    # Loaded by location: this environment need not have us installed, and gets nothing new on its path.
    # The frozen modules are importlib itself, without importing the package importlib.
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import spec_from_file_location

    package_folder = bootstrap_folder.removesuffix("/capture/bootstrap")
    spec = spec_from_file_location(
        "dynamo_core",
        package_folder + "/__init__.py",
        submodule_search_locations=[package_folder],
    )
    package = module_from_spec(spec)
    sys.modules["dynamo_core"] = package
    spec.loader.exec_module(package)

    from dynamo_core.capture.hidden_modules import hide_modules_in

    hide_modules_in([package_folder, package_folder + "/capture"])
    from dynamo_core.capture.arm import arm

    arm()


try:
    _arm()
except Exception:  # whatever is wrong with us, the program runs; `dynamo` notices that no record came
    pass

# An ImportError raised here is the one that plain Python meets, and `site` passes over it.
del sys.modules["sitecustomize"]
import sitecustomize  # noqa: E402, F401
