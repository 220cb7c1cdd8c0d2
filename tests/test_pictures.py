from __future__ import annotations

from xml.etree import ElementTree

from training_pipeline.pictures import confusion_svg

TEXT = "{http://www.w3.org/2000/svg}text"


def test_every_count_and_label_stands_in_the_picture() -> None:
    svg = confusion_svg(["no", "yes"], ["no", "yes", "no prediction"], [[5, 1, 0], [2, 7, 3]], "val")
    texts = ["".join(node.itertext()) for node in ElementTree.fromstring(svg).iter(TEXT)]
    assert [text for text in texts if text.isdigit()] == ["5", "1", "0", "2", "7", "3"]
    assert {"58%", "83%"} <= set(texts)


def test_markup_in_a_label_stays_text() -> None:
    svg = confusion_svg(["<script>", 'a"&b'], ["<script>", 'a"&b'], [[1, 0], [0, 1]], "</svg><b>")
    root = ElementTree.fromstring(svg)
    assert {node.tag.split("}")[1] for node in root.iter()} == {"svg", "title", "rect", "text", "g"}


def test_a_class_without_items_is_drawn_without_a_division_by_zero() -> None:
    assert "0%" in confusion_svg(["a"], ["a"], [[0]], "test")


def test_a_label_with_what_xml_cannot_hold_is_still_drawn() -> None:
    labels = ["a\x00b\x1b", "c\ud800\uffff", "d\x85\n"]
    svg = confusion_svg(labels, labels, [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "val \x07")
    texts = {node.text for node in ElementTree.fromstring(svg.encode()).iter() if node.text}
    assert {"a\ufffdb\ufffd", "c\ufffd\ufffd", "d\x85\n", "val \ufffd"} <= texts
