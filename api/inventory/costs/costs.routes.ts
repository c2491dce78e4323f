import Type from 'typebox';
import { addCost, deleteCost, patchCost } from '../../../domain/inventory/costs/costs.commands.ts';
import {
  cardCostList,
  costList,
  readCost,
  relationCostList,
} from '../../../domain/inventory/costs/costs.list.ts';
import { Cost } from '../../../domain/inventory/costs/costs.model.ts';
import { Clearable, component, Nullable, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { sendResource } from '../../json.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { CardRef } from '../relations/relations.schemas.ts';

const CostSchema = component('Cost', {
  ...Cost.shown.columns,
  converted_amount: Nullable(
    Type.Number({ description: 'In the currency of the workspace; null without an exchange rate' }),
  ),
  card: Nullable(CardRef),
  relation: Nullable(object({ id: Uuid, type: Type.String(), source: CardRef, target: CardRef })),
});

const { kind, period_start, period_end, amount, currency, description, external_id } = Cost.columns;
const CostBody = object({
  kind,
  period_start,
  period_end,
  amount,
  currency: Type.Optional(Type.String({ ...currency, description: 'That of the workspace by default' })),
  description: Type.Optional(description),
  external_id: Type.Optional(external_id),
});
const CostPatchBody = object({
  kind: Type.Optional(kind),
  period_start: Type.Optional(period_start),
  period_end: Type.Optional(period_end),
  amount: Type.Optional(amount),
  currency: Type.Optional(currency),
  description: Clearable(Type.String({ maxLength: 1_000 })),
  external_id: Clearable(Type.String({ minLength: 1, maxLength: 500 })),
});

const seen = { permission: 'login' } as const;
const onCard = 'costs.view, or a stakeholder role on the card';
const onRelation = 'costs.view, or a stakeholder role on either card';
const writing = {
  permission: 'login',
  permissionNote: `inventory.edit or card.edit, for relations relations.manage or card.manage_relations; ${onRelation}`,
} as const;

/** Costs of cards and relations by period. */
export function registerCostRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Costs' });

  routes.list('listCosts', '/api/v1/costs', costList, {
    summary: 'List the costs of all cards and relations',
    description: 'Those of relations need `relations.view`.',
    responses: page('Costs', CostSchema),
  });

  routes.get('readCost', '/api/v1/costs/:id', {
    summary: 'Read one cost',
    ...seen,
    permissionNote: `inventory.view or card.view, for relations inventory.view and relations.view; ${onRelation}`,
    responses: ok('The cost', CostSchema),
    handler: ({ ctx, params }) => readCost(ctx, params.id),
  });

  routes.list('listCardCosts', '/api/v1/cards/:id/costs', cardCostList, {
    summary: 'List the costs of a card',
    ...seen,
    permissionNote: `inventory.view or card.view; ${onCard}`,
    responses: page('Costs', CostSchema),
  });

  routes.list('listRelationCosts', '/api/v1/relations/:id/costs', relationCostList, {
    summary: 'List the costs of a relation',
    permission: 'relations.view',
    permissionNote: `inventory.view; ${onRelation}`,
    responses: page('Costs', CostSchema),
  });

  for (const what of ['card', 'relation'] as const) {
    routes.post(what === 'card' ? 'addCardCost' : 'addRelationCost', `/api/v1/${what}s/:id/costs`, {
      summary: `Add a cost to a ${what}`,
      description:
        'While it has costs, `costTotalAnnual` is computed: the sum of the parts of all amounts that belong to the current fiscal year.',
      ...writing,
      body: CostBody,
      responses: created('The cost', CostSchema, 'Location'),
      errors: ['external_id_taken', 'limit_reached'],
      handler: async ({ ctx, params, body, reply }) => {
        const { id, text } = await addCost(ctx, what, params.id, body);
        return sendResource(reply.code(201).header('location', `/api/v1/costs/${id}`), text);
      },
    });
  }

  routes.patch('patchCost', '/api/v1/costs/:id', {
    summary: 'Change a cost',
    ...writing,
    body: CostPatchBody,
    responses: ok('The cost', CostSchema, 'ETag'),
    errors: ['external_id_taken'],
    handler: ({ ctx, params, body }) => patchCost(ctx, params.id, body),
  });

  routes.delete('deleteCost', '/api/v1/costs/:id', {
    summary: 'Delete a cost',
    ...writing,
    ifMatch: true,
    handler: ({ ctx, params }) => deleteCost(ctx, params.id),
  });
}
