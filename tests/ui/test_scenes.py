"""Every scene looks as it did: small, large, and in a light theme."""

from collections.abc import Callable

import pytest

from tests.ui.scenes import DARK, LIGHT, SCENES, SIZES, Scene, app_of, picture

SMALL, LARGE = SIZES


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_scene_looks_as_it_did(
    snap_compare: Callable[..., bool], scene: Scene, size: tuple[int, int]
) -> None:
    assert snap_compare(app_of(scene, DARK), run_before=scene.play, terminal_size=size)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_scene_looks_as_it_did_in_a_light_theme(snap_compare: Callable[..., bool], scene: Scene) -> None:
    assert snap_compare(app_of(scene, LIGHT), run_before=scene.play, terminal_size=LARGE)


async def test_a_picture_loads_nothing_from_anywhere() -> None:
    svg = await picture(SCENES[0], SMALL, DARK)
    assert "url(" not in svg.replace("url(#", "")
    assert "@font-face" not in svg and "@import" not in svg
