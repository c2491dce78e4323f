import { object } from '../../../domain/kernel/shapes.ts';
import { routesOf } from '../../operation.ts';
import { StakeholderRoleSchema } from '../../schemas/metamodel.ts';
import { RoleCreateBody, RolePatchBody } from '../../schemas/metamodel-bodies.ts';
import type { App } from '../../types.ts';
import { administering, asJob, localised, localisedAnswer, sendChange, tag } from './metamodel.answers.ts';
import { Key } from './metamodel.parameters.ts';

const role = StakeholderRoleSchema;
const base = '/api/v1/metamodel/types/:type_key/stakeholder-roles';
const RoleParams = object({ type_key: Key, role_key: Key });

/** Changing the stakeholder roles of card types. */
export function registerStakeholderRoleRoutes(app: App): void {
  const routes = routesOf(app, { tag: tag });

  routes.post(base, {
    id: 'createStakeholderRole',
    summary: 'Add a stakeholder role to a card type',
    description: 'Cards of the type on which nobody holds it lose data quality.',
    ...administering,
    params: object({ type_key: Key }),
    body: RoleCreateBody,

    answers: { 201: { description: 'The role', schema: role, headers: ['Location', 'ETag'] }, ...asJob },
    errors: ['key_taken', 'metamodel_busy'],
    handler: ({ params, body, ...input }) => {
      const created = `/api/v1/metamodel/types/${params.type_key}/stakeholder-roles/${body.key}`;
      return sendChange(input, { operation: 'create_role', key: params.type_key, body }, { created });
    },
  });

  routes.patch('/api/v1/metamodel/types/:type_key/stakeholder-roles/:role_key', {
    id: 'patchStakeholderRole',
    summary: 'Change a stakeholder role',
    description: 'Its rights change at once, for everybody who holds it.',
    ...administering,
    ...localised,
    params: RoleParams,
    body: RolePatchBody,

    answers: { 200: localisedAnswer('The role', role, { headers: ['ETag'] }), ...asJob },
    errors: ['precondition_failed', 'metamodel_busy'],
    handler: ({ params, body, ...input }) => {
      const { type_key: key, role_key } = params;
      const change = { operation: 'patch_role', key, role: role_key, body } as const;
      return sendChange(input, change);
    },
  });

  for (const act of ['archive', 'restore'] as const) {
    routes.post(`/api/v1/metamodel/types/:type_key/stakeholder-roles/:role_key/${act}`, {
      id: `${act}StakeholderRole`,
      summary: act === 'archive' ? 'Archive a stakeholder role' : 'Make an archived role active again',
      description:
        act === 'archive'
          ? 'Its holders are kept, without its rights. A type keeps one active role.'
          : 'Its holders have its rights again.',
      ...administering,
      ...localised,
      params: RoleParams,
      answers: { 200: localisedAnswer('The role', role, { headers: ['ETag'] }), ...asJob },
      errors: ['precondition_failed', 'wrong_state', 'last_active_role', 'metamodel_busy'],
      handler: ({ params, ...input }) =>
        sendChange(input, { operation: `${act}_role`, key: params.type_key, role: params.role_key }),
    });
  }
}
