import Type from 'typebox';
import { Clearable, Count, Nullable, object, partialObject, Uuid } from '../../../domain/kernel/shapes.ts';
import { ContentElement, CustomFields } from '../../../domain/modelling/bpm/bpm.model.ts';
import { modelLimits } from '../../../domain/modelling/bpm/bpmn.model.ts';
import { MAX_THUMBNAIL } from '../../../domain/modelling/bpm/bpmn.read.ts';
import { MAX_LISTED } from '../../../domain/modelling/bpm/elements.compare.ts';

/** The body limit for a model and a picture in which every character is escaped. */
export const MODEL_BODY = 4 * (modelLimits.bytes + MAX_THUMBNAIL);

export const BpmnXml = Type.String({
  minLength: 1,
  maxLength: modelLimits.bytes,
  description: 'BPMN 2.0, stored unchanged; at most 2 MiB in UTF-8, without a document type',
});
export const Thumbnail = Clearable(
  Type.String({ maxLength: MAX_THUMBNAIL, description: 'An SVG image of the model; at most 1 MiB' }),
);

const named = {
  bpmn_element_id: Type.String(),
  element_type: ContentElement.columns.element_type,
  name: Type.String(),
};
/** Elements by which two models differ. */
export const differenceMembers = {
  added: Type.Array(object(named), {
    maxItems: MAX_LISTED,
    description: `The first ${MAX_LISTED} in document order, like those of the other kinds of differences; the counts include all`,
  }),
  removed: Type.Array(object(named), { maxItems: MAX_LISTED }),
  changed: Type.Array(
    object({
      ...named,
      changes: Type.Record(Type.String(), object({ old: Type.Unknown(), new: Type.Unknown() }), {
        description: 'By member of the element, including its next elements and, for flows, its links',
      }),
    }),
    { maxItems: MAX_LISTED },
  ),
};
/** How many elements differ. */
export const DifferenceCounts = object({
  added: Count,
  removed: Count,
  changed: Count,
  unchanged: Count,
});

const Linked = (what: string) =>
  Nullable(Type.String({ ...Uuid, description: `A card of the type ${what}` }));
/** The links of an element; absent: none. */
export const LinkBody = partialObject({
  application_id: Linked('Application'),
  data_object_id: Linked('DataObject'),
  it_component_id: Linked('ITComponent'),
  custom_fields: Nullable(CustomFields),
});

const modelColumns = ContentElement.shown.columns;
/** The members of an element that its model contains. */
export const modelElement = modelColumns;
export const linkedCards = {
  application_id: Nullable(Uuid),
  application_name: Nullable(Type.String()),
  data_object_id: Nullable(Uuid),
  data_object_name: Nullable(Type.String()),
  it_component_id: Nullable(Uuid),
  it_component_name: Nullable(Type.String()),
};
