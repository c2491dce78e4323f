import Type from 'typebox';
import { readCardSources } from '../../../domain/exchange/itsm/sources.queries.ts';
import { arrayOf, Choice, Nullable, object, Timestamp } from '../../../domain/kernel/shapes.ts';
import { ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const CardSources = object({
  items: arrayOf({
    field: Type.String({ description: 'Such as `name` or `attributes.numberOfUsers`' }),
    source: Type.String({ description: 'The name of the connection' }),
    direction: Choice(['remote_leads', 'local_leads', 'newest_wins', 'manual']),
    written_at: Nullable({ ...Timestamp, description: 'When a run last changed the field; null: never' }),
  }),
});

/** Which values of a card are synchronised. */
export function registerItsmSourceRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  routes.get('readCardSources', '/api/v1/cards/:id/sources', {
    summary: 'List which fields of a card are synchronised, with what, and which side wins',
    description: 'Only names of connections are shown; all else about them requires `itsm_sync.view`.',
    permission: 'login',
    permissionNote: 'inventory.view or card.view',
    responses: ok('The synchronised fields', CardSources),
    handler: ({ ctx, params }) => readCardSources(ctx, params.id),
  });
}
