import Type from 'typebox';
import {
  addStakeholder,
  changeStakeholder,
  listStakeholderRoles,
  listStakeholders,
  observe,
  readObserving,
  removeStakeholder,
  stakeholderSorts,
  stopObserving,
} from '../../../domain/collaboration/stakeholders/stakeholders.commands.ts';
import { cardPermissions } from '../../../domain/kernel/permissions/permissions.data.ts';
import { negotiateLanguage } from '../../language.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/collaboration.ts';
import { listAnswer, listQuery } from '../../schemas/common.ts';
import type { App } from '../../types.ts';

const stakeholder = schemas.StakeholderSchema;
const managing = {
  permission: 'login',
  permissionNote: 'stakeholders.manage or card.manage_stakeholders; costs.view for roles that show costs',
} as const;
const observing = { permission: 'login', permissionNote: 'inventory.view or card.view' } as const;

/** The stakeholders and followers of cards. */
export function registerStakeholderRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Stakeholders' });

  routes.get('/api/v1/stakeholder-roles', {
    id: 'listStakeholderRoleKeys',
    summary: 'List the stakeholder roles of cards',
    description: 'Each key once, or only those of one card type.',
    permission: 'login',
    headers: ['Accept-Language'],
    query: listQuery(['sort_order', 'label', 'key'], 'sort_order', {
      type_key: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    }),
    answers: ok('Roles', listAnswer(schemas.RoleKeySchema), 'Content-Language', 'Vary'),
    handler: ({ ctx, query, request, reply }) =>
      listStakeholderRoles(ctx, query, negotiateLanguage(request, reply, ctx.metamodel.languages)),
  });

  routes.get('/api/v1/stakeholder-roles/permissions-schema', {
    id: 'readCardPermissions',
    summary: 'Read the permissions that a role can give on a card',
    permission: 'login',
    answers: ok('What each permission allows, by its key', Type.Record(Type.String(), Type.String())),
    handler: async () => cardPermissions,
  });

  routes.get('/api/v1/cards/:id/stakeholders', {
    id: 'listStakeholders',
    summary: 'List the stakeholders of a card',
    permission: 'stakeholders.view',
    permissionNote: 'inventory.view or card.view',
    query: listQuery(stakeholderSorts, 'role', {}),
    answers: page('Assignments', schemas.StakeholderItemSchema),
    handler: ({ ctx, params, query }) => listStakeholders(ctx, params.id, query),
  });

  routes.post('/api/v1/cards/:id/stakeholders', {
    id: 'addStakeholder',
    summary: 'Give a user a role on a card',
    ...managing,
    body: schemas.StakeholderBody,

    answers: created('The assignment', stakeholder),
    errors: ['duplicate_stakeholder'],
    handler: async ({ ctx, params, body }) => (await addStakeholder(ctx, params.id, body)).text,
  });

  routes.patch('/api/v1/stakeholders/:id', {
    id: 'changeStakeholder',
    summary: 'Change the role of an assignment',
    ...managing,
    headers: ['If-Match'],
    body: schemas.StakeholderPatchBody,

    answers: ok('The assignment', stakeholder, 'ETag'),
    errors: ['duplicate_stakeholder'],
    handler: ({ ctx, params, body }) => changeStakeholder(ctx, params.id, body),
  });

  routes.delete('/api/v1/stakeholders/:id', {
    id: 'removeStakeholder',
    summary: 'Remove a stakeholder from a card',
    ...managing,
    headers: ['If-Match'],
    answers: { 204: { description: 'Removed' } },
    handler: ({ ctx, params }) => removeStakeholder(ctx, params.id),
  });

  routes.get('/api/v1/cards/:id/me/observe', {
    id: 'readObserving',
    summary: 'Read whether the caller follows a card',
    ...observing,
    answers: ok('Whether the caller is an observer of the card', schemas.ObservingSchema),
    handler: ({ ctx, params }) => readObserving(ctx, params.id),
  });

  routes.post('/api/v1/cards/:id/me/observe', {
    id: 'observeCard',
    summary: 'Follow a card',
    description: 'Gives the caller the role `observer`, so that changes of the card are notified.',
    ...observing,
    answers: created('The assignment', stakeholder),
    errors: ['duplicate_stakeholder', 'observer_role_unavailable'],
    handler: async ({ ctx, params }) => (await observe(ctx, params.id)).text,
  });

  routes.delete('/api/v1/cards/:id/me/observe', {
    id: 'stopObservingCard',
    summary: 'Stop following a card',
    ...observing,
    answers: { 204: { description: 'The caller does not follow the card' } },
    handler: ({ ctx, params }) => stopObserving(ctx, params.id),
  });
}
