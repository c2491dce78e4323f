import Type, { type TSchema } from 'typebox';
import { Secret, settingTable } from '../../domain/kernel/settings/settings.table.ts';
import { component, Nullable, OpenObject, object, Uuid } from '../../domain/kernel/shapes.ts';

const flag = (description: string) => Type.Boolean({ description });

/** The body of a PATCH: all members optional, and null for the default. */
export function patchOf(members: Record<string, TSchema>) {
  return object(
    Object.fromEntries(
      Object.entries(members).map(([name, schema]) => [name, Type.Optional(Nullable(schema))]),
    ),
  );
}

interface Group {
  members: Record<string, { schema: TSchema }>;
  secret?: string;
}

/** The members of a group, with its secret. */
export function groupMembers({ members, secret }: Group): Record<string, TSchema> {
  const own = Object.fromEntries(Object.entries(members).map(([name, { schema }]) => [name, schema]));
  return { ...own, ...(secret && { [secret]: Secret }) };
}

/** The response of a group, with its name. */
export function groupAnswer(definition: Group & { name: string }) {
  const more = definition.name === 'EmailSettings' && { configured: flag('Whether mails can be sent') };
  return component(definition.name, { ...groupMembers(definition), ...more });
}

export const McpStatus = object({
  enabled: Type.Boolean(),
  sso_configured: flag('Whether single sign-on is enabled'),
});

/** Whether a test succeeded, and its result. */
export const TestOutcome = component('TestOutcome', { success: Type.Boolean(), message: Type.String() });

const labelled = {
  id: Uuid,
  key: Type.String(),
  label: Type.String(),
  description: Nullable(Type.String()),
  is_enabled: Type.Boolean(),
  built_in: Type.Boolean(),
  sort_order: Type.Integer(),
  translations: OpenObject,
};

/** The data that an application needs at start, without a login. */
export const BootstrapSchema = component('Bootstrap', {
  currency: settingTable.currency.schema,
  date_format: Type.String(),
  app_title: Type.String(),
  bpm_enabled: Type.Boolean(),
  ppm_enabled: Type.Boolean(),
  ai_analysis_enabled: Type.Boolean(),
  grc_enabled: Type.Boolean(),
  file_uploads_enabled: Type.Boolean(),
  fiscal_year_start: Type.Integer(),
  archive_retention_days: Type.Integer(),
  bpm_row_order: Type.Array(Type.String()),
  show_principles_tab: Type.Boolean(),
  compliance_regulations: Type.Array(object(labelled)),
  resource_types: Type.Array(object({ ...labelled, kind: Type.String(), icon: Nullable(Type.String()) })),
  login_tagline: Type.String(),
  login_tagline_hidden: Type.Boolean(),
  login_help_text: Type.String(),
  login_help_link: Type.String(),
  smtp_configured: Type.Boolean(),
});
