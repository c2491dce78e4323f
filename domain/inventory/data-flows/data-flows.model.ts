import Type from 'typebox';
import { Internal, type RowOf, rowModel, SqlArray } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, Timestamp, Uuid } from '../../kernel/shapes.ts';

/** The topic that every write here raises: reports over data flows depend on it. */
export const DATA_FLOWS_TOPIC = 'data_flows';

/** The types of the cards over which data flows, and of the data. */
export const INTERFACE = 'Interface';
export const DATA_OBJECT = 'DataObject';

/** The type of data flows where they stand beside relations; no relation type can have this key. */
export const DATA_FLOW = 'data-flow';

/** The greatest number of data objects of a flow. */
export const MAX_DATA_OBJECTS = 100;
export const MAX_FLOW_DESCRIPTION = 1_000;

/** Directions, by the keys of the attribute {@link FLOW_DIRECTION}; flows go from their source. */
export const directions = ['forward', 'bidirectional'] as const;

/**
 * The attribute of relation types that tells where data flows: `forward` to the target, `reverse` to the source,
 * `bidirectional` both ways.
 */
export const FLOW_DIRECTION = 'flowDirection';

/** Data that flows from one card to another. */
export class DataFlow extends rowModel('data_flows', {
  id: Uuid,
  source_id: Internal(Uuid),
  target_id: Internal(Uuid),
  interface_id: Internal(Nullable(Uuid)),
  data_object_ids: Internal(SqlArray(Uuid)),
  direction: Choice(directions, '`forward`: from the source to the target; `bidirectional`: both ways'),
  frequency: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 100,
      examples: ['daily'],
      description: 'A key of the setting `flow-frequencies`',
    }),
  ),
  description: Nullable(Type.String({ maxLength: MAX_FLOW_DESCRIPTION })),
  external_id: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'The id of the flow in another system; unique in the workspace',
    }),
  ),
  created_at: Timestamp,
  updated_at: Internal(Timestamp),
}) {}
export type DataFlowRow = RowOf<typeof DataFlow>;

/** The columns that a client or an import row sets besides references to cards. */
export type DataFlowInput = Partial<
  Pick<DataFlowRow, 'direction' | 'frequency' | 'description' | 'external_id'>
>;
