import Type from 'typebox';
import {
  component,
  itemComponent,
  Nullable,
  OpenObject,
  object,
  partialObject,
  Uuid,
} from '../../domain/kernel/shapes.ts';
import { ContentElement, CustomFields, ProcessDiagram } from '../../domain/modelling/bpm/bpm.model.ts';
import { modelLimits } from '../../domain/modelling/bpm/bpmn.model.ts';
import { MAX_THUMBNAIL } from '../../domain/modelling/bpm/bpmn.read.ts';
import { MAX_LISTED } from '../../domain/modelling/bpm/elements.compare.ts';
import { answersOf } from './common.ts';

const Count = Type.Integer({ minimum: 0 });
/** The body limit for a model and a picture in which every character is escaped. */
export const MODEL_BODY = 4 * (modelLimits.bytes + MAX_THUMBNAIL);

export const BpmnXml = Type.String({
  minLength: 1,
  maxLength: modelLimits.bytes,
  description: 'BPMN 2.0, stored unchanged; at most 2 MiB in UTF-8, without a document type',
});
export const Thumbnail = Type.Optional(
  Nullable(
    Type.String({ maxLength: MAX_THUMBNAIL, description: 'An SVG image of the model; at most 1 MiB' }),
  ),
);

export const DiagramSaveBody = object({
  bpmn_xml: BpmnXml,
  svg_thumbnail: Thumbnail,
  dry_run: Type.Boolean({
    default: false,
    description: 'Preview the save without writing',
  }),
});
export const DryRunQuery = object({
  dry_run: Type.Boolean({
    default: false,
    description: 'Preview the import without writing',
  }),
});
export const VersionQuery = object({
  version: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2_147_483_647,
      description: 'An earlier version; by default the current one',
    }),
  ),
});
export const FileForm = object({
  file: Type.String({ format: 'binary', description: 'A BPMN 2.0 file, at most 2 MiB' }),
});

const Warnings = Type.Array(Type.String(), {
  description: 'What the parser did not understand; the model is stored unchanged',
});
const { id, process_id, version, created_by, created_at } = ProcessDiagram.columns;
const diagram = object({
  id,
  process_id,
  bpmn_xml: Type.String(),
  svg_thumbnail: Nullable(Type.String({ description: 'As it was sent' })),
  version,
  element_count: Count,
  warnings: Warnings,
  created_by,
  created_at,
});
/** Null for a process that has none. */
export const DiagramSchema = Type.Unsafe({ ...Nullable(diagram), $id: 'ProcessDiagram' });
export const VersionItemSchema = itemComponent('ProcessDiagramVersion', {
  id,
  version,
  created_by,
  created_at,
});

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
const outcome = {
  links_removed: Type.Integer({ minimum: 0, description: 'Removed elements that had links' }),
  relations_removed: Type.Integer({
    minimum: 0,
    description: 'Relations that were created for links of which none is left',
  }),
};
export const SavedDiagramSchema = component('SavedProcessDiagram', {
  id: Nullable(Uuid),
  process_id: Uuid,
  version,
  element_count: Count,
  dry_run: Type.Boolean(),
  warnings: Warnings,
  element_changes: DifferenceCounts,
  elements_added: differenceMembers.added,
  elements_removed: differenceMembers.removed,
  elements_changed: differenceMembers.changed,
  ...outcome,
  relations_created: Count,
});
export const DeletedDiagramSchema = component('DeletedProcessDiagram', {
  ok: Type.Literal(true),
  versions_removed: Count,
  ...outcome,
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

const { id: _id, content_id: _content, ...modelColumns } = ContentElement.columns;
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
const element = {
  id: Type.String({ ...Uuid, description: 'The same in all versions of the diagram' }),
  process_id: Uuid,
  ...modelElement,
  ...linkedCards,
  custom_fields: Nullable(OpenObject),
};
export const { whole: ElementSchema, item: ElementItemSchema } = answersOf('ProcessElement', element);
