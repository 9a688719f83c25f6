"""The types that every core schema has, whatever the model declares."""

from __future__ import annotations

from edfi_api.model.xsd.names import (
    COMPLEX_OBJECT_TYPE,
    CURRENCY,
    DESCRIPTOR_REFERENCE_TYPE,
    DESCRIPTOR_TYPE,
    PERCENT,
    REFERENCE_TYPE,
    TIME_INTERVAL,
)
from edfi_api.model.xsd.schema import Annotation, Attribute, ComplexType, Element, SimpleType, TypeGroup

_ID = Attribute("id", "xs:ID", "A name for this, unique in the file, for others to refer to.")


def _descriptor_element(name: str, type_name: str, documentation: str, *, is_optional: bool = False) -> Element:
    return Element(name, type_name, Annotation(documentation), is_optional)


BASE_TYPES = (
    ComplexType(
        name=COMPLEX_OBJECT_TYPE,
        annotation=Annotation("What all documents have.", TypeGroup.BASE),
        attributes=(_ID,),
        is_abstract=True,
    ),
    # Its shared strings `ShortDescription`, `Description` and `URI` are those of the model.
    ComplexType(
        name=DESCRIPTOR_TYPE,
        annotation=Annotation("What all descriptors have.", TypeGroup.BASE),
        particles=(
            _descriptor_element("CodeValue", "CodeValue", "The code that tells the value from others of its kind."),
            _descriptor_element("ShortDescription", "ShortDescription", "The value in a few words."),
            _descriptor_element("Description", "Description", "The value at length.", is_optional=True),
            _descriptor_element("EffectiveBeginDate", "xs:date", "The first day of its use.", is_optional=True),
            _descriptor_element("EffectiveEndDate", "xs:date", "The last day of its use.", is_optional=True),
            _descriptor_element(
                "PriorDescriptor", DESCRIPTOR_REFERENCE_TYPE, "The value that it replaces.", is_optional=True
            ),
            _descriptor_element("Namespace", "URI", "The URI of the vocabulary that it belongs to."),
        ),
        base=COMPLEX_OBJECT_TYPE,
        is_abstract=True,
    ),
    ComplexType(
        name=REFERENCE_TYPE,
        annotation=Annotation("What all references have.", TypeGroup.BASE),
        attributes=(
            _ID,
            Attribute("ref", "xs:IDREF", "The `id` of the referenced element, if the file has it."),
        ),
    ),
)


def _simple(name: str, base: str, documentation: str, **facets: str) -> SimpleType:
    annotation = Annotation(documentation, TypeGroup.SIMPLE)
    return SimpleType(name=name, annotation=annotation, base=base, facets=tuple(facets.items()))


STRING_TYPES = (
    _simple("CodeValue", "xs:string", "The code of a descriptor's value.", minLength="1", maxLength="50"),
    _simple(
        DESCRIPTOR_REFERENCE_TYPE,
        "xs:string",
        "A value of a descriptor: its namespace, '#' and its code value.",
        minLength="1",
        maxLength="255",
    ),
    _simple(TIME_INTERVAL, "xs:duration", "A span of time."),
)
NUMBER_TYPES = (
    _simple(CURRENCY, "xs:decimal", "An amount of money."),
    _simple(
        PERCENT,
        "xs:decimal",
        "A share of a whole: 0.5 is one half.",
        minInclusive="0",
        maxInclusive="1",
        totalDigits="5",
        fractionDigits="4",
    ),
)
