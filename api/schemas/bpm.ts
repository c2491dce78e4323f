import Type from 'typebox';
import { closed, Nullable, OpenObject, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';
import { CustomFields } from '../../domain/modelling/bpm/bpm.input.ts';
import { elementTypes } from '../../domain/modelling/bpm/bpm.types.ts';
import { modelLimits } from '../../domain/modelling/bpm/bpmn.guard.ts';
import { MAX_THUMBNAIL } from '../../domain/modelling/bpm/bpmn.read.ts';
import { MOST_NAMED } from '../../domain/modelling/bpm/elements.compare.ts';

export const ProcessParams = Type.Object({ process_id: Uuid }, closed);
export const ElementParams = Type.Object({ process_id: Uuid, element_id: Uuid }, closed);

const ElementTypeName = Type.Union(elementTypes.map((type) => Type.Literal(type)));
const Count = Type.Integer({ minimum: 0 });
/** Room in a body for a model and a picture whose every character is escaped. */
export const MODEL_BODY = 4 * (modelLimits.bytes + MAX_THUMBNAIL);

export const BpmnXml = Type.String({
  minLength: 1,
  maxLength: modelLimits.bytes,
  description: 'BPMN 2.0, kept to the letter; at most 2 MiB in UTF-8, without a document type',
});
export const Thumbnail = Type.Optional(
  Nullable(
    Type.String({ maxLength: MAX_THUMBNAIL, description: 'An SVG image of the model; at most 1 MiB' }),
  ),
);
/** A model that is small enough for an example. */
export const bpmnExample = `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="https://estate.example/bpmn">
  <process id="p"><startEvent id="start"/><sequenceFlow id="f" sourceRef="start" targetRef="check"/><userTask id="check" name="Check the order"/></process>
</definitions>`;

export const DiagramSaveBody = Type.Object(
  {
    bpmn_xml: BpmnXml,
    svg_thumbnail: Thumbnail,
    dry_run: Type.Boolean({ default: false, description: 'Tells what a save would do, and writes nothing' }),
  },
  closed,
);
export const DryRunQuery = Type.Object(
  { dry_run: Type.Boolean({ default: false, description: 'Tells what the import would do' }) },
  closed,
);
export const VersionQuery = Type.Object(
  {
    version: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2_147_483_647,
        description: 'An earlier version; absent: the one shown',
      }),
    ),
  },
  closed,
);
export const FileForm = Type.Object(
  { file: Type.String({ format: 'binary', description: 'A BPMN 2.0 file, at most 2 MiB' }) },
  closed,
);

const Warnings = Type.Array(Type.String(), {
  description: 'What the parser did not understand; the model is kept as it is',
});
const version = {
  id: Uuid,
  version: Type.Integer({ minimum: 1 }),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
};
const diagram = Type.Object(
  {
    id: Uuid,
    process_id: Uuid,
    bpmn_xml: Type.String(),
    svg_thumbnail: Nullable(Type.String({ description: 'As it was sent' })),
    version: version.version,
    element_count: Count,
    warnings: Warnings,
    created_by: version.created_by,
    created_at: version.created_at,
  },
  closed,
);
/** Null for a process that has none. */
export const DiagramSchema = Type.Unsafe({ ...Nullable(diagram), $id: 'ProcessDiagram' });
export const VersionItemSchema = Type.Partial(Type.Object(version), {
  $id: 'ProcessDiagramVersion',
  ...closed,
});

const named = { bpmn_element_id: Type.String(), element_type: ElementTypeName, name: Type.String() };
/** Elements by which two models differ. */
export const differenceMembers = {
  added: Type.Array(Type.Object(named, closed), {
    maxItems: MOST_NAMED,
    description: `The first ${MOST_NAMED} in the order of the document, as of each kind of difference; the counts tell how many there are`,
  }),
  removed: Type.Array(Type.Object(named, closed), { maxItems: MOST_NAMED }),
  changed: Type.Array(
    Type.Object(
      {
        ...named,
        changes: Type.Record(
          Type.String(),
          Type.Object({ old: Type.Unknown(), new: Type.Unknown() }, closed),
          {
            description:
              'By member of the element; what leads on from it among them and, of flows, what it is linked to',
          },
        ),
      },
      closed,
    ),
    { maxItems: MOST_NAMED },
  ),
};
/** How many elements differ. */
export const DifferenceCounts = Type.Object(
  { added: Count, removed: Count, changed: Count, unchanged: Count },
  closed,
);
const outcome = {
  links_removed: Type.Integer({ minimum: 0, description: 'Elements that were linked and are gone' }),
  relations_removed: Type.Integer({
    minimum: 0,
    description: 'Relations that came with links of which none is left',
  }),
};
export const SavedDiagramSchema = Type.Object(
  {
    id: Nullable(Uuid),
    process_id: Uuid,
    version: version.version,
    element_count: Count,
    dry_run: Type.Boolean(),
    warnings: Warnings,
    element_changes: DifferenceCounts,
    elements_added: differenceMembers.added,
    elements_removed: differenceMembers.removed,
    elements_changed: differenceMembers.changed,
    ...outcome,
    relations_created: Count,
  },
  { $id: 'SavedProcessDiagram', ...closed },
);
export const DeletedDiagramSchema = Type.Object(
  { ok: Type.Literal(true), versions_removed: Count, ...outcome },
  { $id: 'DeletedProcessDiagram', ...closed },
);

const Linked = (what: string) =>
  Nullable(Type.String({ ...Uuid, description: `A card of the type ${what}` }));
/** What an element is linked to; absent: nothing. */
export const LinkBody = Type.Object(
  {
    application_id: Type.Optional(Linked('Application')),
    data_object_id: Type.Optional(Linked('DataObject')),
    it_component_id: Type.Optional(Linked('ITComponent')),
    custom_fields: Type.Optional(Nullable(CustomFields)),
  },
  closed,
);

/** What the model says of an element. */
export const modelElement = {
  bpmn_element_id: Type.String({ description: 'As in the model' }),
  element_type: ElementTypeName,
  name: Type.String({ description: 'Empty where the element has none' }),
  documentation: Nullable(Type.String()),
  lane_name: Nullable(
    Type.String({ description: 'The innermost lane; of elements in a subprocess that of this' }),
  ),
  pool_name: Nullable(Type.String()),
  parent_element_id: Nullable(Type.String({ description: 'The subprocess that it lies in' })),
  is_automated: Type.Boolean({ description: 'A service, script or business rule task' }),
  sequence_order: Type.Integer({ minimum: 0, description: 'Place in the document' }),
  next_element_ids: Type.Array(Type.String(), { description: 'Where its sequence flows lead' }),
};
export const linkedCards = {
  application_id: Nullable(Uuid),
  application_name: Nullable(Type.String()),
  data_object_id: Nullable(Uuid),
  data_object_name: Nullable(Type.String()),
  it_component_id: Nullable(Uuid),
  it_component_name: Nullable(Type.String()),
};
const element = {
  id: Type.String({ ...Uuid, description: 'The same over all versions of the diagram' }),
  process_id: Uuid,
  ...modelElement,
  ...linkedCards,
  custom_fields: Nullable(OpenObject),
};
export const ElementSchema = Type.Object(element, { $id: 'ProcessElement', ...closed });
export const ElementItemSchema = Type.Partial(Type.Object(element), { $id: 'ProcessElementItem', ...closed });

export const elementSorts = ['sequence_order', 'name', 'element_type', 'lane_name'];
export const elementFilters = {
  element_type: Type.Optional(
    Type.Union(
      elementTypes.map((type) => Type.Literal(type)),
      { description: 'Only elements of this type' },
    ),
  ),
  linked: Type.Optional(
    Type.Boolean({ description: 'Only elements that are linked to a card, or the others' }),
  ),
};
