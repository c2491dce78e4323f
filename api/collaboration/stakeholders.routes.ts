import Type from 'typebox';
import { observe, readObserving, stopObserving } from '../../domain/collaboration/stakeholders/observing.ts';
import {
  addStakeholder,
  changeStakeholder,
  removeStakeholder,
} from '../../domain/collaboration/stakeholders/stakeholders.commands.ts';
import {
  listStakeholderRoles,
  listStakeholders,
  stakeholderSorts,
} from '../../domain/collaboration/stakeholders/stakeholders.list.ts';
import { cardPermissions } from '../../domain/kernel/permissions/permissions.data.ts';
import { sendJson, sendResource } from '../json.ts';
import { negotiateLanguage } from '../language.ts';
import { operation } from '../operation.ts';
import examples from '../schemas/collaboration.examples.json' with { type: 'json' };
import * as schemas from '../schemas/collaboration.ts';
import { IdParams, listAnswer, listQuery } from '../schemas/common.ts';
import type { App } from '../types.ts';

const tag = 'Stakeholders';
const stakeholder = Type.Ref('Stakeholder#');
const example = examples.stakeholder;
const managing = {
  permission: 'login',
  permissionNote: 'stakeholders.manage or card.manage_stakeholders; costs.view for roles that show costs',
} as const;
const observing = { permission: 'login', permissionNote: 'inventory.view or card.view' } as const;

/** The stakeholders of cards, and following cards. */
export function registerStakeholderRoutes(app: App): void {
  for (const schema of [schemas.StakeholderSchema, schemas.StakeholderItemSchema, schemas.RoleKeySchema]) {
    app.addSchema(schema);
  }

  operation(app, {
    method: 'GET',
    url: '/api/v1/stakeholder-roles',
    id: 'listStakeholderRoleKeys',
    tag,
    summary: 'List the roles that people can hold on cards',
    description: 'Each key once, or those of one card type.',
    permission: 'login',
    headers: ['Accept-Language'],
    query: listQuery(['sort_order', 'label', 'key'], 'sort_order', {
      type_key: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    }),
    answers: {
      200: {
        description: 'Roles',
        schema: listAnswer(Type.Ref('StakeholderRoleKey#')),
        headers: ['Content-Language', 'Vary'],
      },
    },
    handler: async ({ ctx, query, request, reply }) =>
      sendJson(
        reply,
        await listStakeholderRoles(ctx, query, negotiateLanguage(request, reply, ctx.metamodel.languages)),
      ),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/stakeholder-roles/permissions-schema',
    id: 'readCardPermissions',
    tag,
    summary: 'Read the permissions that a role can give on a card',
    permission: 'login',
    answers: {
      200: {
        description: 'What each permission allows, by its key',
        schema: Type.Record(Type.String(), Type.String()),
        example: { 'card.view': cardPermissions['card.view'] },
      },
    },
    handler: async () => cardPermissions,
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/cards/:id/stakeholders',
    id: 'listStakeholders',
    tag,
    summary: 'List the stakeholders of a card',
    permission: 'stakeholders.view',
    permissionNote: 'inventory.view or card.view',
    params: IdParams,
    query: listQuery(stakeholderSorts, 'role', {}),
    answers: {
      200: { description: 'Assignments', schema: listAnswer(Type.Ref('StakeholderItem#')) },
    },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listStakeholders(ctx, params.id, query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/cards/:id/stakeholders',
    id: 'addStakeholder',
    tag,
    summary: 'Give a user a role on a card',
    ...managing,
    params: IdParams,
    body: schemas.StakeholderBody,
    bodyExample: { user_id: example.user_id, role: 'responsible' },
    answers: { 201: { description: 'The assignment', schema: stakeholder, example, headers: ['ETag'] } },
    errors: ['duplicate_stakeholder'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply.code(201), (await addStakeholder(ctx, params.id, body)).text),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/stakeholders/:id',
    id: 'changeStakeholder',
    tag,
    summary: 'Change the role of an assignment',
    ...managing,
    params: IdParams,
    headers: ['If-Match'],
    body: schemas.StakeholderPatchBody,
    bodyExample: { role: 'observer' },
    answers: { 200: { description: 'The assignment', schema: stakeholder, example, headers: ['ETag'] } },
    errors: ['duplicate_stakeholder'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await changeStakeholder(ctx, params.id, body)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/stakeholders/:id',
    id: 'removeStakeholder',
    tag,
    summary: 'Remove a stakeholder from a card',
    ...managing,
    params: IdParams,
    headers: ['If-Match'],
    answers: { 204: { description: 'Removed' } },
    handler: async ({ ctx, params, reply }) => {
      await removeStakeholder(ctx, params.id);
      return reply.code(204).send();
    },
  });

  registerObservingRoutes(app);
}

/** Observing of cards. */
function registerObservingRoutes(app: App): void {
  operation(app, {
    method: 'GET',
    url: '/api/v1/cards/:id/me/observe',
    id: 'readObserving',
    tag,
    summary: 'Read whether the caller follows a card',
    ...observing,
    params: IdParams,
    answers: {
      200: {
        description: 'Whether the caller is an observer of the card',
        schema: schemas.ObservingSchema,
        example: { is_observer: true, observer_role_available: true },
      },
    },
    handler: async ({ ctx, params }) => await readObserving(ctx, params.id),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/cards/:id/me/observe',
    id: 'observeCard',
    tag,
    summary: 'Follow a card',
    description: 'Gives the caller the role `observer`, so that changes of the card are notified.',
    ...observing,
    params: IdParams,
    answers: {
      201: {
        description: 'The assignment',
        schema: stakeholder,
        example: { ...example, role: 'observer', role_label: 'Observer' },
        headers: ['ETag'],
      },
    },
    errors: ['duplicate_stakeholder', 'observer_role_unavailable'],
    handler: async ({ ctx, params, reply }) =>
      sendResource(reply.code(201), (await observe(ctx, params.id)).text),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/cards/:id/me/observe',
    id: 'stopObservingCard',
    tag,
    summary: 'Stop following a card',
    ...observing,
    params: IdParams,
    answers: { 204: { description: 'Not followed, whether or not it was before' } },
    handler: async ({ ctx, params, reply }) => {
      await stopObserving(ctx, params.id);
      return reply.code(204).send();
    },
  });
}
