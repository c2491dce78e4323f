import Type from 'typebox';
import { Stakeholder } from '../../../domain/collaboration/collaboration.model.ts';
import {
  addStakeholder,
  changeStakeholder,
  observe,
  readObserving,
  removeStakeholder,
  stakeholderList,
  stakeholderRoleList,
  stopObserving,
} from '../../../domain/collaboration/stakeholders/stakeholders.commands.ts';
import { cardPermissions } from '../../../domain/kernel/permissions/permissions.data.ts';
import { component, itemComponent, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const stakeholderMembers = {
  ...Stakeholder.columns,
  user_display_name: Type.String(),
  user_email: Type.String(),
  role_label: Type.String({ description: 'The key if the type no longer has the role' }),
};
const StakeholderSchema = component('Stakeholder', stakeholderMembers);

const RoleKeySchema = itemComponent('StakeholderRoleKey', {
  key: Type.String(),
  label: Type.String(),
  translations: Type.Record(Type.String(), Type.Unknown()),
});

const RoleKey = Type.String({ minLength: 1, maxLength: 100 });
const StakeholderBody = object({ user_id: Uuid, role: RoleKey });
const StakeholderPatchBody = object({
  user_id: Type.Optional(Type.String({ ...Uuid, description: 'Optional; cannot be changed' })),
  role: RoleKey,
});

const ObservingSchema = object({
  is_observer: Type.Boolean(),
  observer_role_available: Type.Boolean(),
});

const managing = {
  permission: 'login',
  permissionNote: 'stakeholders.manage or card.manage_stakeholders; costs.view for roles that show costs',
} as const;
const observing = { permission: 'login', permissionNote: 'inventory.view or card.view' } as const;

/** The stakeholders and followers of cards. */
export function registerStakeholderRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Stakeholders' });

  routes.list('listStakeholderRoleKeys', '/api/v1/stakeholder-roles', stakeholderRoleList, {
    summary: 'List the stakeholder roles of cards',
    description: 'Each key once, or only those of one card type.',
    permission: 'login',
    languages: (ctx) => ctx.metamodel.languages,
    responses: page('Roles', RoleKeySchema),
  });

  routes.get('readCardPermissions', '/api/v1/stakeholder-roles/permissions-schema', {
    summary: 'Read the permissions that a role can give on a card',
    permission: 'login',
    responses: ok('What each permission allows, by its key', Type.Record(Type.String(), Type.String())),
    handler: async () => cardPermissions,
  });

  routes.list('listStakeholders', '/api/v1/cards/:id/stakeholders', stakeholderList, {
    summary: 'List the stakeholders of a card',
    permissionNote: 'inventory.view or card.view',
    responses: page('Assignments', StakeholderSchema),
  });

  routes.post('addStakeholder', '/api/v1/cards/:id/stakeholders', {
    summary: 'Give a user a role on a card',
    ...managing,
    body: StakeholderBody,
    responses: created('The assignment', StakeholderSchema),
    errors: ['duplicate_stakeholder'],
    handler: async ({ ctx, params, body }) => (await addStakeholder(ctx, params.id, body)).text,
  });

  routes.patch('changeStakeholder', '/api/v1/stakeholders/:id', {
    summary: 'Change the role of an assignment',
    ...managing,
    body: StakeholderPatchBody,
    responses: ok('The assignment', StakeholderSchema, 'ETag'),
    errors: ['duplicate_stakeholder'],
    handler: ({ ctx, params, body }) => changeStakeholder(ctx, params.id, body),
  });

  routes.delete('removeStakeholder', '/api/v1/stakeholders/:id', {
    summary: 'Remove a stakeholder from a card',
    ...managing,
    ifMatch: true,
    responses: { 204: { description: 'Removed' } },
    handler: ({ ctx, params }) => removeStakeholder(ctx, params.id),
  });

  routes.get('readObserving', '/api/v1/cards/:id/me/observe', {
    summary: 'Read whether the caller follows a card',
    ...observing,
    responses: ok('Whether the caller is an observer of the card', ObservingSchema),
    handler: ({ ctx, params }) => readObserving(ctx, params.id),
  });

  routes.post('observeCard', '/api/v1/cards/:id/me/observe', {
    summary: 'Follow a card',
    description: 'Gives the caller the role `observer`, so that changes of the card are notified.',
    ...observing,
    responses: created('The assignment', StakeholderSchema),
    errors: ['duplicate_stakeholder', 'observer_role_unavailable'],
    handler: async ({ ctx, params }) => (await observe(ctx, params.id)).text,
  });

  routes.delete('stopObservingCard', '/api/v1/cards/:id/me/observe', {
    summary: 'Stop following a card',
    ...observing,
    responses: { 204: { description: 'The caller does not follow the card' } },
    handler: ({ ctx, params }) => stopObserving(ctx, params.id),
  });
}
