import Type from 'typebox';
import { homeParts, readHome } from '../../domain/app/home.ts';
import { Card } from '../../domain/inventory/cards/cards.model.ts';
import {
  arrayOf,
  Choice,
  Count,
  component,
  IntegerIn,
  Nullable,
  OpenObject,
  object,
  partialObject,
} from '../../domain/kernel/shapes.ts';
import { sendJson } from '../json.ts';
import { ok, routesOf } from '../operation.ts';
import type { App } from '../types.ts';

const { id, type, subtype, name, approval_status, data_quality, updated_at } = Card.columns;
const cards = (description: string) =>
  Nullable(
    object({
      items: arrayOf({ id, type, subtype, name, approval_status, data_quality, updated_at }, { description }),
      total: Count,
    }),
  );
const itemsOf = (list: string, more: string) =>
  Nullable(
    Type.Object({
      items: Type.Array(OpenObject, { description: `As in \`GET ${list}\`${more}` }),
      total: Type.Optional(Count),
    }),
  );

const HomeSchema = component(
  'Home',
  partialObject({
    todos: itemsOf('/todos', ': open ones assigned to me, by due date'),
    surveys: itemsOf('/surveys/my', ''),
    approvals: cards('Cards with a role of mine whose approval is broken'),
    conflicts: itemsOf('/itsm-sync/questions', ' about cards with a role of mine'),
    duplicates: itemsOf('/ai-analysis/duplicate-pairs', ': pending ones with a card with a role of mine'),
    changes: itemsOf('/events/my-cards', ''),
    recent: cards('Cards that I have changed last'),
    favorites: itemsOf('/favorites', ''),
  }).properties,
  { description: 'Null for what the caller may not see' },
);

/** What a start page shows about the caller. */
export function registerHomeRoutes(app: App): void {
  routesOf(app, { tag: 'Reports' }).get('readHome', '/api/v1/home', {
    summary: 'Read what waits for me, and what I work on',
    description: 'The first items of each list. Key figures with their trend are in the report `dashboard`.',
    permission: 'login',
    scope: 'account',
    query: object({
      include: Type.Optional(
        Type.Array(Choice([...homeParts]), { maxItems: homeParts.length, description: 'By default all' }),
      ),
      page_size: IntegerIn(1, 50, 'Items of each list', 8),
    }),
    responses: ok('The lists', HomeSchema),
    handler: async ({ ctx, query: { include = homeParts, page_size }, reply }) =>
      sendJson(reply, await readHome(ctx, [...new Set(include)], page_size)),
  });
}
