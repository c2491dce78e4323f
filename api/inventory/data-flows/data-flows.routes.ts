import Type from 'typebox';
import {
  bulkDataFlows,
  createDataFlow,
  deleteDataFlow,
  patchDataFlow,
} from '../../../domain/inventory/data-flows/data-flows.commands.ts';
import {
  cardFlowList,
  dataFlowList,
  readDataFlow,
} from '../../../domain/inventory/data-flows/data-flows.list.ts';
import { DataFlow, MAX_DATA_OBJECTS } from '../../../domain/inventory/data-flows/data-flows.model.ts';
import { suggestedFlowList } from '../../../domain/inventory/data-flows/data-flows.suggested.ts';
import {
  Choice,
  Clearable,
  Count,
  component,
  Flag,
  Nullable,
  object,
  optional,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { sendResource } from '../../json.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { CardRef, Reference } from '../relations/relations.schemas.ts';

const DataFlowSchema = component('DataFlow', {
  ...DataFlow.shown.columns,
  source: CardRef,
  target: CardRef,
  interface: Nullable(CardRef),
  data_objects: Type.Array(CardRef),
});

const { direction, frequency, description, external_id } = DataFlow.columns;
const { source, target, interface: over, data_objects } = DataFlowSchema.properties;
const SuggestedSchema = component('SuggestedDataFlow', {
  source,
  target,
  interface: over,
  data_objects,
  direction,
});
const values = optional({ direction, frequency, description, external_id });
const PatchBody = object({
  interface_id: Clearable(Uuid),
  data_object_ids: Clearable(
    Type.Array(Uuid, { maxItems: MAX_DATA_OBJECTS, uniqueItems: true, description: 'All of them' }),
  ),
  ...values,
});
const CreateBody = object({ source_id: Uuid, target_id: Uuid, ...PatchBody.properties });

const BulkBody = object({
  operations: Type.Array(
    object({
      row_index: Type.Integer({ description: "A number of the caller's choice, returned with the result" }),
      action: Choice(['upsert', 'delete'], { default: 'upsert' }),
      id: Type.Optional(
        Type.String({
          ...Uuid,
          description:
            'Of the data flow; without it the one with the `external_id` is changed, else one is created',
        }),
      ),
      ...optional({ source: Reference, target: Reference }),
      interface: Clearable(Reference),
      data_objects: Clearable(Type.Array(Reference, { maxItems: MAX_DATA_OBJECTS })),
      ...values,
    }),
    { minItems: 1, maxItems: 1000 },
  ),
  dry_run: Flag('Return the same response without writing'),
});

const BulkSchema = component('DataFlowBulkResponse', {
  results: Type.Array(
    object({
      row_index: Type.Integer(),
      status: Choice(['created', 'updated', 'deleted', 'unchanged', 'failed']),
      data_flow_id: Nullable(Uuid),
      error: Nullable(Type.String()),
      code: Nullable(Type.String()),
      field: Nullable(Type.String()),
    }),
  ),
  created: Count,
  updated: Count,
  deleted: Count,
  unchanged: Count,
  failed: Count,
  dry_run: Type.Boolean(),
});

const MIB = 1024 * 1024;
const reading = { permission: 'relations.view', permissionNote: 'inventory.view' } as const;
const writing = {
  permission: 'login',
  permissionNote: 'relations.manage or card.manage_relations on either card',
} as const;

/** Data flows between cards. */
export function registerDataFlowRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Data flows' });

  routes.list('listDataFlows', '/api/v1/data-flows', dataFlowList, {
    summary: 'List data flows between active cards',
    description: '`search` searches the names of both cards, the description and the external id.',
    ...reading,
    responses: page('Data flows', DataFlowSchema),
  });

  routes.list('listCardDataFlows', '/api/v1/cards/:id/data-flows', cardFlowList, {
    summary: 'List the data flows of a card',
    description: 'Those from and to the card, over it as an interface, or of it as a data object.',
    ...reading,
    responses: page('Data flows', DataFlowSchema),
  });

  routes.list('listSuggestedDataFlows', '/api/v1/data-flows/suggested', suggestedFlowList, {
    summary: 'List the data flows that follow from relations of interfaces',
    description:
      'From each card that sends data into an interface to each that receives data from it (attribute `flowDirection`), if one side is a single card or there are only two. `POST /data-flows/bulk` takes them as operations.',
    ...reading,
    responses: page('Data flows that do not exist yet', SuggestedSchema),
  });

  routes.get('readDataFlow', '/api/v1/data-flows/:id', {
    summary: 'Read one data flow',
    ...reading,
    responses: ok('The data flow', DataFlowSchema),
    handler: ({ ctx, params }) => readDataFlow(ctx, params.id),
  });

  routes.post('createDataFlow', '/api/v1/data-flows', {
    summary: 'Create a data flow between two cards',
    description:
      'Both are active cards of types with `has_data_flows`. The interface is a card of the type Interface, data objects are of the type DataObject.',
    ...writing,
    body: CreateBody,
    responses: created('The data flow', DataFlowSchema, 'Location'),
    errors: ['external_id_taken'],
    handler: async ({ ctx, body, reply }) => {
      const { id, text } = await createDataFlow(ctx, body);
      return sendResource(reply.code(201).header('location', `/api/v1/data-flows/${id}`), text);
    },
  });

  routes.post('bulkDataFlows', '/api/v1/data-flows/bulk', {
    summary: 'Create, change and delete many data flows',
    description:
      'Rows are executed in order by the rules of single data flows, in one transaction. A row that fails is reported with `error`, `code` and `field`; the other rows are executed.',
    ...writing,
    body: BulkBody,
    bodyLimit: 16 * MIB,
    responses: ok('The result of each row', BulkSchema),
    errors: ['external_id_taken'],
    handler: ({ ctx, body }) => bulkDataFlows(ctx, body.operations, body.dry_run),
  });

  routes.patch('patchDataFlow', '/api/v1/data-flows/:id', {
    summary: 'Change a data flow',
    description: 'Its ends do not change. Interfaces and data objects that you cannot see are retained.',
    ...writing,
    body: PatchBody,
    responses: ok('The data flow', DataFlowSchema, 'ETag'),
    errors: ['external_id_taken'],
    handler: ({ ctx, params, body }) => patchDataFlow(ctx, params.id, body),
  });

  routes.delete('deleteDataFlow', '/api/v1/data-flows/:id', {
    summary: 'Delete a data flow',
    ...writing,
    ifMatch: true,
    handler: ({ ctx, params }) => deleteDataFlow(ctx, params.id),
  });
}
