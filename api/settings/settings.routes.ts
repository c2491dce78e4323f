import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { changeSetting } from '../../domain/app/settings/settings.change.ts';
import { reachNote } from '../../domain/app/settings/settings.reach.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { SETTINGS_TOPIC, type WorkspaceSettings } from '../../domain/kernel/settings/settings.state.ts';
import {
  type PlainSetting,
  type SettingGroup,
  settingMembers,
  settingView,
  ssoConfigured,
} from '../../domain/kernel/settings/settings.views.ts';
import { closed, Nullable } from '../../domain/kernel/shapes.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import * as schemas from '../schemas/settings.ts';
import type { App, RoutePermission } from '../types.ts';
import { plainSettings } from './settings.plain.data.ts';

const tag = 'Settings';
const root = '/api/v1/settings';

/** Where one setting stands in the API. */
interface SettingApi {
  key: PlainSetting | SettingGroup;
  path: string;
  name: string;
  what: string;
  description?: string;
  read: RoutePermission;
  change: RoutePermission;
  body: TSchema;
  bodyExample: unknown;
  answer: TSchema;
  /** An example of the answer, where none can be made from the schema. */
  example?: unknown;
}

const groups: SettingApi[] = [
  {
    key: 'login_branding',
    path: 'login-branding',
    name: 'LoginBranding',
    what: 'the texts of the login page',
    body: schemas.patchOf(schemas.brandingMembers),
    bodyExample: { login_tagline: 'All systems, on one map', login_help_link: 'mailto:help@estate.example' },
  },
  {
    key: 'email',
    path: 'email',
    name: 'EmailSettings',
    what: 'the mail server',
    body: schemas.patchOf(schemas.emailMembers),
    bodyExample: { smtp_host: 'mail.estate.example', smtp_user: 'estate', smtp_password: 'a secret' },
  },
  {
    key: 'sso',
    path: 'sso',
    name: 'SsoSettings',
    what: 'single sign-on',
    body: schemas.patchOf(schemas.ssoMembers),
    bodyExample: {
      enabled: true,
      provider: 'oidc',
      client_id: 'estate',
      issuer_url: 'https://login.example',
    },
  },
  {
    key: 'ai',
    path: 'ai',
    name: 'AiSettings',
    what: 'the provider of AI',
    body: schemas.patchOf(schemas.aiMembers),
    bodyExample: { enabled: true, provider_type: 'anthropic', model: 'claude', api_key: 'a secret' },
  },
  {
    key: 'registration_policy',
    path: 'registration-policy',
    name: 'RegistrationPolicy',
    what: 'who may register, and with which role',
    description: 'The role is one whose permissions the caller holds.',
    body: schemas.patchOf(schemas.registrationMembers),
    bodyExample: { allowed_domains: ['estate.example'], approval_required: true, role: 'viewer' },
  },
  {
    key: 'retention',
    path: 'retention',
    name: 'RetentionSettings',
    what: 'how long things are kept',
    description: 'What is older is removed every hour.',
    body: schemas.patchOf(schemas.retentionMembers),
    bodyExample: { events_days: 730, notifications_days: 90 },
  },
].map((group) => ({
  ...group,
  key: group.key as SettingGroup,
  read: 'admin.settings',
  change: 'admin.settings',
  // named as its schema
  answer: Type.Ref(`${group.name}#`),
}));

const plain: SettingApi[] = plainSettings.map(({ key, path, name, what, schema, optional, ...more }) => {
  const member = settingMembers[key];
  return {
    key,
    path,
    name,
    what,
    read: more.public ? 'public' : 'admin.settings',
    change: 'admin.settings',
    body: Type.Object({ [member]: optional ? Type.Optional(Nullable(schema)) : schema }, closed),
    bodyExample: { [member]: more.example },
    answer: Type.Object({ [member]: schema }, closed),
    example: { [member]: more.example },
  };
});

const mcp: SettingApi = {
  key: 'mcp_enabled',
  path: 'mcp',
  name: 'McpSettings',
  what: 'whether the MCP server is switched on',
  read: 'admin.mcp',
  change: 'admin.mcp',
  body: Type.Object({ enabled: Type.Optional(Nullable(Type.Boolean())) }, closed),
  bodyExample: { enabled: true },
  answer: schemas.McpStatus,
};

/** All settings but for pictures, the tries of servers, and what an application starts with. */
export function registerSettingRoutes(app: App, services: Services): void {
  for (const schema of Object.values(schemas.settingSchemas)) app.addSchema(schema);
  for (const setting of [...plain, ...groups, mcp]) registerSetting(app, services, setting);

  operation(app, {
    method: 'GET',
    url: `${root}/sso/status`,
    id: 'readSsoStatus',
    tag,
    summary: 'Read whether people log in through a provider',
    permission: 'public',
    answers: { 200: { description: 'The status', schema: Type.Object({ enabled: Type.Boolean() }, closed) } },
    handler: async ({ request, reply }) =>
      sendPublic(reply, { enabled: ssoConfigured(await settingsOf(services, request)) }),
  });

  operation(app, {
    method: 'GET',
    url: `${root}/mcp/status`,
    id: 'readMcpStatus',
    tag,
    summary: 'Read whether the MCP server is switched on',
    permission: 'public',
    answers: { 200: { description: 'The status', schema: schemas.McpStatus } },
    handler: async ({ request, reply }) =>
      sendPublic(reply, settingView('mcp_enabled', await settingsOf(services, request))),
  });
}

function registerSetting(app: App, services: Services, setting: SettingApi): void {
  const { key, name, what } = setting;
  const url = `${root}/${setting.path}`;
  const answer = {
    description: 'As it is now',
    schema: setting.answer,
    ...(setting.example === undefined ? {} : { example: setting.example }),
  };

  operation(app, {
    method: 'GET',
    url,
    id: `read${name}`,
    tag,
    summary: `Read ${what}`,
    ...(setting.description ? { description: setting.description } : {}),
    permission: setting.read,
    answers: { 200: answer },
    handler: async ({ request, reply }) => {
      const view = settingView(key, await settingsOf(services, request));
      return setting.read === 'public' ? sendPublic(reply, view) : sendJson(reply, JSON.stringify(view));
    },
  });

  operation(app, {
    method: 'PATCH',
    url,
    id: `change${name}`,
    tag,
    summary: `Change ${what}`,
    ...(setting.description ? { description: setting.description } : {}),
    permission: setting.change,
    ...(reachNote(key) ? { permissionNote: reachNote(key)! } : {}),
    body: setting.body,
    bodyExample: setting.bodyExample,
    answers: { 200: { ...answer, headers: ['ETag'] } },
    errors: ['precondition_failed', ...(key === 'bpm_enabled' ? (['metamodel_busy'] as const) : [])],
    handler: async ({ ctx, body, reply }) => {
      const { secrets, outbound } = services;
      const view = await changeSetting(ctx, secrets, key, body as Record<string, unknown>, outbound);
      return sendResource(reply, JSON.stringify(view));
    },
  });
}

/** The settings as they were after the request arrived. */
export async function settingsOf(
  { settings }: Services,
  { topics, ctx }: FastifyRequest,
): Promise<WorkspaceSettings> {
  return await settings.at(topics.get(SETTINGS_TOPIC) ?? 0, ctx.db);
}

/** An answer that is the same for everybody: any cache may keep it, and asks each time whether it still holds. */
function sendPublic(reply: FastifyReply, view: Record<string, unknown>): FastifyReply {
  return sendJson(reply.header('cache-control', 'public, no-cache'), JSON.stringify(view));
}
