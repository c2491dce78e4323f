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

/** Write operations of the stakeholder roles of card types. */
export function registerStakeholderRoleRoutes(app: App): void {
  const routes = routesOf(app, { tag: tag });

  routes.post(base, {
    id: 'createStakeholderRole',
    summary: 'Add a stakeholder role to a card type',
    description:
      'It counts towards the data quality of the type’s cards: those on which nobody has the role get a lower one.',
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
    description: 'The change of rights applies immediately to everybody who has the role.',
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
          ? 'Its assignments remain, without its rights. The last active role of a type cannot be archived.'
          : 'Its assignments have its rights again.',
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
