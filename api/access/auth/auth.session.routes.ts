import Type from 'typebox';
import {
  endWebSession,
  impersonate,
  logout,
  logoutEverywhere,
  refresh,
  stopImpersonating,
} from '../../../domain/access/access.impersonate.ts';
import { readMe } from '../../../domain/access/users.queries.ts';
import { WebSession, webSessionList } from '../../../domain/access/web-sessions.ts';
import {
  BooleanOf,
  component,
  Flag,
  itemComponent,
  Nullable,
  OpenObject,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { clearSite } from '../../plugins/web-session.ts';
import { plainId } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { okResponse, tokenIssuer, tokenResponse } from './auth.issue.ts';

const MeSchema = component('Me', {
  id: Uuid,
  email: Type.String(),
  display_name: Type.String(),
  role: Type.String(),
  role_label: Nullable(Type.String()),
  role_color: Nullable(Type.String()),
  is_active: Type.Boolean(),
  locale: Type.String(),
  permissions: Type.Record(Type.String(), Type.Boolean()),
  ui_preferences: OpenObject,
  impersonated_role: Nullable(Type.String()),
  impersonated_role_label: Nullable(Type.String()),
});

const SessionSchema = itemComponent('Session', {
  ...WebSession.shown.columns,
  is_current: BooleanOf('Whether the request belongs to the session'),
});

/** Refresh, logout, impersonation, sessions and the caller’s account. */
export function registerSessionRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Authentication', permission: 'login' });

  const issue = tokenIssuer(app);
  routes.post('refreshToken', '/api/v1/auth/refresh', {
    summary: 'Get a new token while the current one is valid',
    scope: 'account',
    secretResponse: true,
    responses: tokenResponse,
    errors: ['session_required'],
    handler: async ({ ctx, reply }) => issue(reply, await refresh(ctx)),
  });

  routes.post('impersonate', '/api/v1/auth/impersonate', {
    summary: 'Impersonate another role',
    description:
      'The token has the permissions of that role that the caller has too. Every event still names the caller, and the role in addition. Not for `admin` or the caller’s own role.',
    permission: 'admin.impersonate',
    secretResponse: true,
    body: object({ role: Type.String({ minLength: 1, maxLength: 64 }) }),
    responses: tokenResponse,
    errors: ['conflict', 'session_required'],
    handler: async ({ ctx, body, reply }) => issue(reply, await impersonate(ctx, body.role)),
  });

  routes.post('stopImpersonating', '/api/v1/auth/stop-impersonating', {
    summary: 'Stop impersonating a role',
    description: 'The token of the request ends if it was one of an impersonation.',
    scope: 'account',
    secretResponse: true,
    responses: tokenResponse,
    errors: ['session_required'],
    handler: async ({ ctx, reply }) => issue(reply, await stopImpersonating(ctx)),
  });

  routes.post('logout', '/api/v1/auth/logout', {
    summary: 'Log out: revoke the token of the request',
    description:
      'The response is the same without a valid token. The session of the web interface ends, and its cookie is deleted with everything that the browser has stored. Personal and service tokens are revoked under `/tokens`.',
    permission: 'public',
    responses: okResponse,
    handler: async ({ ctx, reply }) => {
      await logout(ctx);
      clearSite(reply);
      return { ok: true };
    },
  });

  routes.post('logoutEverywhere', '/api/v1/auth/logout-everywhere', {
    summary: 'End all logins of the caller',
    description:
      'All sessions of the web interface and all access tokens of the account end, also those of the request.',
    scope: 'account',
    body: object({ api_tokens: Flag('Whether to revoke the personal tokens of the account as well') }),
    responses: okResponse,
    errors: ['session_required'],
    handler: async ({ ctx, body, reply }) => {
      await logoutEverywhere(ctx, body);
      clearSite(reply);
      return { ok: true };
    },
  });

  routes.list('listSessions', '/api/v1/auth/sessions', webSessionList, {
    summary: 'List the caller’s sessions of the web interface',
    description: 'Access tokens of other clients are not listed.',
    scope: 'account',
    responses: page('Sessions', SessionSchema),
    errors: ['session_required'],
  });

  routes.delete('endSession', '/api/v1/auth/sessions/:id', {
    summary: 'End one of the caller’s sessions of the web interface',
    scope: 'account',
    responses: { 204: { description: 'Ended' } },
    errors: ['session_required'],
    handler: ({ ctx, params }) => endWebSession(ctx, plainId(params.id)),
  });

  routes.get('readMe', '/api/v1/auth/me', {
    summary: 'Read the caller’s account with its effective permissions',
    duringSetup: true,
    responses: ok('The account', MeSchema),
    handler: ({ ctx }) => readMe(ctx),
  });
}
