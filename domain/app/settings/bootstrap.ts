import { Regulation, ResourceType } from '../../governance/catalogues/catalogues.model.ts';
import type { Ctx } from '../../kernel/context.ts';
import { findRows } from '../../kernel/resources/rows.ts';
import {
  emailConfigured,
  type PlainSetting,
  type WorkspaceSettings,
} from '../../kernel/settings/settings.read.ts';

/** The settings that a client needs at startup, besides texts of the login page. */
export const bootstrapSettings = [
  'currency',
  'date_format',
  'app_title',
  'languages',
  'bpm_enabled',
  'ppm_enabled',
  'ai_analysis_enabled',
  'grc_enabled',
  'file_uploads_enabled',
  'fiscal_year_start',
  'archive_retention_days',
  'bpm_row_order',
] as const satisfies PlainSetting[];

/** The data that a client needs at startup. */
export async function readBootstrap({ db }: Ctx, settings: WorkspaceSettings): Promise<object> {
  const { values } = settings;
  const regulations = await findRows(db, Regulation, (query) => query.orderBy(['sort_order', 'key']));
  const types = await findRows(db, ResourceType, (query) => query.orderBy(['kind', 'sort_order', 'key']));
  return {
    ...Object.fromEntries(bootstrapSettings.map((key) => [key, values[key]])),
    show_principles_tab: values.principles_display,
    compliance_regulations: regulations.map(withoutTimes),
    resource_types: types.map(withoutTimes),
    ...values.login_branding,
    smtp_configured: emailConfigured(settings),
  };
}

const withoutTimes = <R extends object>(row: R): R => ({
  ...row,
  created_at: undefined,
  updated_at: undefined,
});
