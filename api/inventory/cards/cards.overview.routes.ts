import Type from 'typebox';
import { countedLists, overviewParts, readCardOverview } from '../../../domain/app/card-overview.ts';
import { Card } from '../../../domain/inventory/cards/cards.model.ts';
import { Relation } from '../../../domain/inventory/relations/relations.model.ts';
import {
  arrayOf,
  Choice,
  Count,
  component,
  IntegerIn,
  Nullable,
  NumberIn,
  OptionalText,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { invalidField } from '../../../platform/errors.ts';
import { ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { CardHierarchySchema, CardPermissionsSchema, CardSchema } from './cards.schemas.ts';

const { id, type, subtype, name, lifecycle, approval_status, data_quality } = Card.columns;
const { description, attributes } = Relation.columns;

const RelatedCard = object({
  relation_id: Uuid,
  description,
  attributes,
  card: object({ id, type, subtype, name, lifecycle, approval_status, data_quality }),
});

const Side = Choice(['source', 'target']);
const Missing = Type.Array(object({ type: Type.String(), side: Side, label: Type.String() }));

const CardOverviewSchema = component('CardOverview', {
  card: CardSchema,
  hierarchy: Type.Optional(CardHierarchySchema),
  relations: Type.Optional(
    Nullable(
      arrayOf(
        {
          relation_type_key: Type.String(),
          direction: Choice(['outgoing', 'incoming']),
          label: Type.String(),
          count: Count,
          items: Type.Array(RelatedCard, { description: 'By name; `count` counts all' }),
        },
        { description: 'Relations with active cards; null without `relations.view`' },
      ),
    ),
  ),
  permissions: Type.Optional(CardPermissionsSchema),
  counts: Type.Optional(
    object(Object.fromEntries(countedLists.map((list) => [list, Nullable(Count)])), {
      description: 'The number of objects in each list of the card; null if the caller may not see it',
    }),
  ),
  quality: Type.Optional(
    object({
      data_quality: NumberIn(0, 100, 'In percent'),
      gaps: arrayOf(
        {
          kind: Choice(['field', 'description', 'lifecycle', 'relation', 'tag_group', 'stakeholder_role']),
          key: Nullable(
            Type.String({ description: 'Of the field, relation type or role; the id of the tag group' }),
          ),
          side: Nullable(Side),
          label: Nullable(Type.String()),
          points: NumberIn(0, 100, 'By how much filling it raises the data quality'),
        },
        { description: 'What is not filled, the most valuable first' },
      ),
      approval: object(
        {
          missing_relations: Missing,
          missing_tag_groups: Type.Array(object({ id: Uuid, name: Type.String() })),
        },
        { description: 'What prevents the approval' },
      ),
    }),
  ),
});

type Part = (typeof overviewParts)[number];

/** The parts that a request includes; all by default. */
function partsOf(include: string | undefined): ReadonlySet<Part> {
  if (include === undefined) return new Set(overviewParts);
  const names = include.split(',').map((part) => part.trim());
  const unknown = names.find((part) => !overviewParts.includes(part as Part));
  if (unknown !== undefined)
    throw invalidField('include', 'unknown_value', `"${unknown}" is none of ${overviewParts.join(', ')}`);
  return new Set(names as Part[]);
}

/** A card with what its page shows first. */
export function registerCardOverviewRoute(app: App): void {
  const routes = routesOf(app, { tag: 'Cards' });

  routes.get('readCardOverview', '/api/v1/cards/:id/overview', {
    summary: 'Read a card with its hierarchy, relations, my rights, counts and gaps',
    description: 'Parts of which the caller may see nothing are null.',
    permission: 'login',
    permissionNote: 'inventory.view or card.view',
    query: object({
      include: OptionalText(200, `Comma-separated: ${overviewParts.join(', ')}; by default all`),
      children: IntegerIn(1, 200, 'Children in `hierarchy`', 20),
      relations: IntegerIn(1, 200, 'Relations of each type and direction', 20),
    }),
    responses: ok('The overview', CardOverviewSchema),
    handler: ({ ctx, params, query: { include, ...sizes } }) =>
      readCardOverview(ctx, params.id, partsOf(include), sizes),
  });
}
