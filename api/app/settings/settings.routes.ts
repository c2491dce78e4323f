import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { previewOutgoing } from '../../../domain/analysis/ai/ai.outgoing.ts';
import { usageList } from '../../../domain/analysis/ai/ai.usage.ts';
import { bootstrapSettings, readBootstrap } from '../../../domain/app/settings/bootstrap.ts';
import { changeSetting, describeReach } from '../../../domain/app/settings/settings.change.ts';
import { Regulation, ResourceType } from '../../../domain/governance/catalogues/catalogues.model.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import type { AnyDefinition } from '../../../domain/kernel/settings/settings.definition.ts';
import {
  type PlainSetting,
  SETTINGS_TOPIC,
  type SettingGroup,
  type SettingKey,
  settingView,
  ssoConfigured,
  type WorkspaceSettings,
} from '../../../domain/kernel/settings/settings.read.ts';
import { Secret, settingTable } from '../../../domain/kernel/settings/settings.table.ts';
import {
  arrayOf,
  Clearable,
  component,
  DateOnly,
  Flag,
  Nullable,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { listModels } from '../../../integrations/analysis/models/models.list.ts';
import { apiAddress } from '../../../integrations/analysis/models/models.open.ts';
import { testModel } from '../../../integrations/analysis/models/models.test-provider.ts';
import { sendNow } from '../../../integrations/collaboration/mail/mail.send.ts';
import { EstateError } from '../../../platform/errors.ts';
import { sendJson } from '../../json.ts';
import { ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const flag = (description: string) => Type.Boolean({ description });

/** The body of a PATCH: all members optional, and null for the default. */
function patchOf(members: Record<string, TSchema>) {
  return object(
    Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, Clearable(schema)])),
  );
}

interface Group {
  members: Record<string, { schema: TSchema }>;
  secret?: string;
}

/** The members of a group, with its secret. */
function groupMembers({ members, secret }: Group): Record<string, TSchema> {
  const own = Object.fromEntries(Object.entries(members).map(([name, { schema }]) => [name, schema]));
  return { ...own, ...(secret && { [secret]: Secret }) };
}

/** The response of a group, with its name. */
function groupResponse(definition: Group & { name: string }) {
  const more = definition.name === 'EmailSettings' && { configured: flag('Whether mails can be sent') };
  return component(definition.name, { ...groupMembers(definition), ...more });
}

const McpStatus = object({
  enabled: Type.Boolean(),
  sso_configured: flag('Whether single sign-on is enabled'),
});

/** Whether a test succeeded, and its result. */
const TestOutcome = component('TestOutcome', { success: Type.Boolean(), message: Type.String() });

const { created_at: _created, updated_at: _updated, ...regulation } = Regulation.columns;
const { created_at: _createdType, updated_at: _updatedType, ...resourceType } = ResourceType.columns;

/** The data that an application needs at start, without a login. */
const BootstrapSchema = component('Bootstrap', {
  ...Object.fromEntries(bootstrapSettings.map((key) => [key, settingTable[key].schema])),
  show_principles_tab: Type.Boolean(),
  compliance_regulations: Type.Array(object(regulation)),
  resource_types: Type.Array(object(resourceType)),
  ...groupMembers(settingTable.login_branding),
  smtp_configured: Type.Boolean(),
});

const AiPreviewSchema = component('AiPreview', {
  provider_type: Type.String(),
  address: Type.String({ description: 'The URL of the provider' }),
  card: Type.Object(
    { id: Uuid, type: Type.String() },
    { additionalProperties: true, description: 'The card data that would be sent' },
  ),
  withheld: Type.Array(Type.String(), { description: 'Fields with values that would not be sent' }),
});

const AiUsageSchema = component('AiUsage', {
  id: Uuid,
  day: DateOnly,
  run_id: Nullable(Uuid),
  purpose: Type.String(),
  provider_type: Type.String(),
  model: Type.String(),
  calls: Type.Integer({ description: 'Sent requests, including retries' }),
  tokens_in: Type.Integer(),
  tokens_out: Type.Integer(),
  tokens_reserved: Type.Integer({
    description: 'Reserved for requests in progress or with an unknown outcome; counted as spent',
  }),
});

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
      body: patchOf(groupMembers(definition)),
      answer: groupResponse(definition),
    };
  }
  const { member, schema, isOptional } = definition;
  const body = object({ [member]: isOptional ? Clearable(schema) : Nullable(schema) });
  return {
    body,
    answer: key === 'mcp_enabled' ? McpStatus : object({ [member]: schema }),
  };
}

/** The operations of all settings except images, server tests and the bootstrap. */
export function registerSettingRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Settings' });

  for (const key of settings) registerSetting(app, services, key);

  routes.get('readSsoStatus', '/api/v1/settings/sso/status', {
    summary: 'Read whether single sign-on is enabled',
    permission: 'public',
    responses: ok('The status', object({ enabled: Type.Boolean() })),
    handler: async ({ request, reply }) =>
      sendPublic(reply, { enabled: ssoConfigured(await settingsOf(services, request)) }),
  });

  routes.get('readMcpStatus', '/api/v1/settings/mcp/status', {
    summary: 'Read whether the MCP server is enabled',
    permission: 'public',
    responses: ok('The status', McpStatus),
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

  routes.get(`read${name}`, url, {
    summary: `Read ${what}`,
    ...description,
    permission: readableBy,
    responses: { 200: answer },
    handler: async ({ request, reply }) => {
      const view = settingView(key, await settingsOf(services, request));
      return readableBy === 'public' ? sendPublic(reply, view) : sendJson(reply, JSON.stringify(view));
    },
  });

  routes.patch(`change${name}`, url, {
    summary: `Change ${what}`,
    ...description,
    ...(describeReach(key) ? { permissionNote: describeReach(key)! } : {}),
    ...(key === 'bpm_enabled'
      ? { query: object({ force: Flag('Hide processes although consumers use them, which break') }) }
      : {}),
    body,
    bodyExample: example,
    responses: { 200: { ...answer, headers: ['ETag'] } },
    errors: [...(key === 'bpm_enabled' ? (['in_use', 'metamodel_busy'] as const) : [])],
    handler: async ({ ctx, query, body }) => {
      const { secrets, outbound } = services;
      const view = await changeSetting(
        ctx,
        secrets,
        key,
        body as Record<string, unknown>,
        outbound,
        (query as { force?: boolean }).force,
      );
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
function sendPublic(reply: FastifyReply, view: object): FastifyReply {
  return sendJson(reply.header('cache-control', 'public, no-cache'), JSON.stringify(view));
}

/** Preview of the data sent to the AI provider, and usage. */
export function registerAiSettingRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Settings', permission: 'admin.settings' });

  routes.get('previewAiSettings', '/api/v1/settings/ai/preview', {
    summary: 'Preview the data of a card that the AI provider would get',
    description: 'With the current settings and your rights. Nothing is sent.',
    permissionNote: 'inventory.view for all cards; otherwise only cards that a stakeholder role shows',
    query: object({ card_id: Type.String({ ...Uuid, description: 'The card' }) }),
    responses: ok('The card as it would be sent', AiPreviewSchema),
    errors: ['not_found'],
    handler: async ({ ctx, query, request }) => {
      const { ai } = (await settingsOf(services, request)).values;
      const preview = await previewOutgoing(ctx, ai, query.card_id);
      return { provider_type: ai.provider_type, address: apiAddress(ai), ...preview };
    },
  });

  routes.get('listAiModels', '/api/v1/settings/ai/models', {
    summary: 'List the models of the AI provider',
    description:
      'By the provider and key in the settings, even if AI is disabled. Azure lists no deployments (`wrong_state`).',
    responses: ok(
      'The first 1,000 by their names in the settings',
      object({ models: arrayOf({ id: Type.String(), name: Type.String() }) }),
    ),
    errors: ['ai_not_configured', 'wrong_state', 'upstream_failed'],
    handler: async ({ ctx }) => ({ models: await listModels(ctx, services) }),
  });

  routes.list('listAiUsage', '/api/v1/settings/ai/usage', usageList, {
    summary: 'List the usage and cost of language models',
    description: 'By day in UTC, run, purpose and model; the budgets limit these amounts.',
    responses: page('Use', AiUsageSchema),
  });
}

const outcome = ok('The outcome of the test', TestOutcome);

/** Tests of the servers that the settings configure. */
export function registerSettingTestRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Settings', permission: 'admin.settings' });

  routes.post('testEmailSettings', '/api/v1/settings/email/test', {
    summary: 'Test the mail server by a mail to the caller',
    responses: outcome,
    handler: async ({ ctx }) => {
      const { email } = ctx.caller;
      if (email === null) return { success: false, message: 'Your account has no e-mail address.' };
      try {
        await sendNow(services, {
          to: email,
          subject: 'Mails arrive',
          text: 'This is a test mail. The mail server works.\n',
        });
        return { success: true, message: `The mail server has accepted a mail to ${email}.` };
      } catch (error) {
        if (!(error instanceof EstateError)) throw error;
        return { success: false, message: error.message };
      }
    },
  });

  routes.post('testAiSettings', '/api/v1/settings/ai/test', {
    summary: 'Test the AI provider',
    description: 'Asks the model for a sum, even if AI is disabled. No data of the inventory is sent.',
    responses: outcome,
    handler: ({ ctx }) => testModel(ctx, services),
  });
}

/** Everything that an application reads at start, in one response. */
export function registerBootstrapRoute(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Settings' });

  routes.get('readBootstrap', '/api/v1/settings/bootstrap', {
    summary: 'Read what an application needs to start',
    permission: 'public',
    responses: ok('Settings, switches and catalogues', BootstrapSchema),
    handler: async ({ ctx, request, reply }) =>
      sendPublic(reply, await readBootstrap(ctx, await settingsOf(services, request))),
  });
}
