import Type from 'typebox';
import { Card } from '../../../domain/inventory/cards/cards.model.ts';
import { readCardImpact } from '../../../domain/inventory/relations/relations.impact.ts';
import { findCardPaths } from '../../../domain/inventory/relations/relations.paths.ts';
import {
  arrayOf,
  BooleanOf,
  Count,
  component,
  IntegerFrom,
  IntegerIn,
  Nullable,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const { id, name, type, lifecycle } = Card.columns;
const relation_type_key = Type.String();

const CardPathsSchema = component('CardPaths', {
  length: Nullable(IntegerFrom(0, 'Relations on each path; null if there is none')),
  paths: Type.Array(arrayOf({ relation_id: Uuid, relation_type_key, source_id: Uuid, target_id: Uuid }), {
    description: 'By their relations from the card on',
  }),
  cards: arrayOf({ id, name, type }, { description: 'Those on the paths' }),
  complete: BooleanOf('False if the search was given up after 100,000 relations'),
});

const CardImpactSchema = component('CardImpact', {
  switched_off: arrayOf({ id, name, type }, { description: 'The card and those below it' }),
  counts: Type.Record(Type.String(), object({ direct: Count, all: Count }), {
    description: 'Dependent cards by type',
  }),
  items: arrayOf(
    {
      ...{ id, name, type, lifecycle, relation_type_key },
      distance: IntegerFrom(1, 'In relations'),
      via_id: Type.String({ ...Uuid, description: 'The nearer card on which it depends' }),
    },
    { description: 'Dependent cards, the nearest first' },
  ),
  total: Count,
  complete: BooleanOf('False if there are more than 10,000'),
});

/** Reads along the relations of a card. */
export function registerRelationGraphRoutes(app: App): void {
  const routes = routesOf(app, {
    tag: 'Relations',
    permission: 'relations.view',
    permissionNote: 'inventory.view or card.view',
  });

  routes.get('findCardPaths', '/api/v1/cards/:id/paths', {
    summary: 'Find the shortest paths between two cards',
    description: 'Along relations in either direction, over active cards.',
    query: object({
      to: Type.String({ ...Uuid, description: 'The other card' }),
      length: IntegerIn(1, 8, 'Maximum relations on a path', 6),
      limit: IntegerIn(1, 50, 'Maximum number of paths', 10),
    }),
    responses: ok('The paths', CardPathsSchema),
    handler: ({ ctx, params, query }) => findCardPaths(ctx, params.id, query),
  });

  routes.get('readCardImpact', '/api/v1/cards/:id/impact', {
    summary: 'Read which cards depend on a card, directly and through others',
    description:
      'What would be affected if it was switched off. A relation is followed from the card on which the other one depends: by the meaning of its built-in type, else from lower to upper categories of the metamodel, or from the target to the source. Relations with interfaces follow their `flowDirection`.',
    query: object({
      depth: IntegerIn(1, 10, 'Maximum number of relations', 5),
      include_children: Type.Boolean({
        default: true,
        description: 'Whether the cards below it are switched off too',
      }),
      page_size: IntegerIn(1, 500, 'Maximum number of `items`; counts include all', 200),
    }),
    responses: ok('The dependent cards', CardImpactSchema),
    handler: ({ ctx, params, query }) => readCardImpact(ctx, params.id, query),
  });
}
