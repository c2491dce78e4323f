import { rowEvents } from '../kernel/events/row-changes.ts';
import { deleteExpired, type Extension } from '../kernel/extensions.ts';
import type { Resource } from '../kernel/resources/resource.ts';
import { passwordResetJob } from './access.passwords.reset.ts';
import { registrationJob } from './access.register.ts';
import { eraseUserJob } from './erasure/erasure.job.ts';
import { Role } from './roles.model.ts';
import { ScimGroup, ScimGroupMember } from './scim/scim.model.ts';

const provisioned = {
  undo: { refused: 'The identity provider keeps them.' },
  transfer: { excluded: 'service', reason: 'The identity provider of the service keeps them.' },
} as const;

const resources: readonly Resource[] = [
  {
    model: Role,
    name: 'role',
    events: { created: ['role.created'], updated: ['role.updated', 'role.archived', 'role.restored'] },
    topics: ['roles'],
    undo: { refused: 'Roles are administered by hand.' },
    transfer: {
      key: ['key'],
      omitted: ['id', 'is_default', 'is_system', 'created_at', 'updated_at'],
      label: 't.key',
    },
  },
  {
    model: ScimGroup,
    name: 'group of the identity provider',
    events: rowEvents('scim_group'),
    ...provisioned,
  },
  {
    model: ScimGroupMember,
    name: 'member of a group',
    events: { created: ['scim_group_member.created'], deleted: ['scim_group_member.deleted'] },
    ...provisioned,
  },
];

/** Accounts, logins and tokens. */
export const accessExtension: Extension = {
  resources,
  jobs: [passwordResetJob, registrationJob, eraseUserJob],
  cleanups: {
    revoked_tokens: deleteExpired('revoked_tokens', 'expires_at < now()'),
    web_sessions: deleteExpired('web_sessions', 'expires_at < now()'),
    one_time_tokens: deleteExpired('one_time_tokens', 'expires_at < now()'),
    throttles: deleteExpired('throttles', `window_start < now() - interval '1 hour'`),
  },
};
