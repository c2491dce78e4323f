import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { changeSetting } from '../../../domain/app/settings/settings.change.ts';
import { describeReach } from '../../../domain/app/settings/settings.reach.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import type {
  PlainSetting,
  SettingGroup,
  SettingKey,
} from '../../../domain/kernel/settings/settings.defaults.ts';
import type { AnyDefinition } from '../../../domain/kernel/settings/settings.definition.ts';
import { SETTINGS_TOPIC, type WorkspaceSettings } from '../../../domain/kernel/settings/settings.state.ts';
import { settingTable } from '../../../domain/kernel/settings/settings.table.ts';
import { settingView, ssoConfigured } from '../../../domain/kernel/settings/settings.views.ts';
import { Nullable, object } from '../../../domain/kernel/shapes.ts';
import { sendJson } from '../../json.ts';
import { ok, routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/settings.ts';
import type { App } from '../../types.ts';

const root = '/api/v1/settings';

type Setting = PlainSetting | SettingGroup;

const settings = (Object.keys(settingTable) as SettingKey[]).filter(
  (key): key is Setting => settingTable[key].kind !== 'image',
);

/** The schemas of a setting's request and response bodies; those of groups are components named after the settings. */
function schemasOf(key: Setting): { body: TSchema; answer: TSchema } {
  const definition: AnyDefinition = settingTable[key];
  if (definition.kind === 'group') {
    return {
      body: schemas.patchOf(schemas.groupMembers(definition)),
      answer: schemas.groupAnswer(definition),
    };
  }
  const { member, schema, isOptional } = definition;
  const body = object({ [member]: isOptional ? Type.Optional(Nullable(schema)) : schema });
  return {
    body,
    answer: key === 'mcp_enabled' ? schemas.McpStatus : object({ [member]: schema }),
  };
}

/** The operations of all settings except images, server tests and the bootstrap. */
export function registerSettingRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Settings' });

  for (const key of settings) registerSetting(app, services, key);

  routes.get('/api/v1/settings/sso/status', {
    id: 'readSsoStatus',
    summary: 'Read whether single sign-on is enabled',
    permission: 'public',
    answers: ok('The status', object({ enabled: Type.Boolean() })),
    handler: async ({ request, reply }) =>
      sendPublic(reply, { enabled: ssoConfigured(await settingsOf(services, request)) }),
  });

  routes.get('/api/v1/settings/mcp/status', {
    id: 'readMcpStatus',
    summary: 'Read whether the MCP server is enabled',
    permission: 'public',
    answers: ok('The status', schemas.McpStatus),
    handler: async ({ request, reply }) =>
      sendPublic(reply, settingView('mcp_enabled', await settingsOf(services, request))),
  });
}

function registerSetting(app: App, services: Services, key: Setting): void {
  const definition: AnyDefinition = settingTable[key];
  const { name, what, path, permission = 'admin.settings', readableBy = permission } = definition;
  const routes = routesOf(app, { tag: 'Settings', permission });
  const url = `${root}/${path}`;
  const { body, answer: schema } = schemasOf(key);
  const example =
    definition.kind === 'plain' ? { [definition.member]: definition.example } : definition.example;
  const hasExample = definition.kind === 'plain' && key !== 'mcp_enabled';
  const answer = { description: 'The current value', schema, ...(hasExample && { example }) };
  const description = definition.description && { description: definition.description };

  routes.get(url, {
    id: `read${name}`,
    summary: `Read ${what}`,
    ...description,
    permission: readableBy,
    answers: { 200: answer },
    handler: async ({ request, reply }) => {
      const view = settingView(key, await settingsOf(services, request));
      return readableBy === 'public' ? sendPublic(reply, view) : sendJson(reply, JSON.stringify(view));
    },
  });

  routes.patch(url, {
    id: `change${name}`,
    summary: `Change ${what}`,
    ...description,
    ...(describeReach(key) ? { permissionNote: describeReach(key)! } : {}),
    body,
    bodyExample: example,
    answers: { 200: { ...answer, headers: ['ETag'] } },
    errors: ['precondition_failed', ...(key === 'bpm_enabled' ? (['metamodel_busy'] as const) : [])],
    handler: async ({ ctx, body }) => {
      const { secrets, outbound } = services;
      const view = await changeSetting(ctx, secrets, key, body as Record<string, unknown>, outbound);
      return JSON.stringify(view);
    },
  });
}

/** Reads the settings, at least as new as the request. */
export async function settingsOf(
  { settings }: Services,
  { topics, ctx }: FastifyRequest,
): Promise<WorkspaceSettings> {
  return await settings.at(topics.get(SETTINGS_TOPIC) ?? 0, ctx.db);
}

/** Sends a response that is the same for everybody: shared caches can store it, and must revalidate it each time. */
function sendPublic(reply: FastifyReply, view: Record<string, unknown>): FastifyReply {
  return sendJson(reply.header('cache-control', 'public, no-cache'), JSON.stringify(view));
}
