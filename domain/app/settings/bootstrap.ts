import { query } from '../../../platform/database.ts';
import { CATALOGUES_TOPIC } from '../../governance/catalogues/catalogue.commands.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import {
  emailConfigured,
  SETTINGS_TOPIC,
  type SettingsStore,
  type WorkspaceSettings,
} from '../../kernel/settings/settings.read.ts';

/** The data that a client needs at startup, cached in the process until a part of it changes. */
export interface Bootstrap {
  /** @param topics the topic versions, read after the request arrived: the response is at least as recent. */
  read(ctx: Ctx, topics: ReadonlyMap<string, number>): Promise<JsonText>;
}

export function createBootstrap(settings: SettingsStore): Bootstrap {
  let kept: { stamp: string; text: Promise<JsonText> } | undefined;
  return {
    async read(ctx, topics) {
      const version = topics.get(SETTINGS_TOPIC) ?? 0;
      const stamp = `${version}.${topics.get(CATALOGUES_TOPIC) ?? 0}`;
      if (kept?.stamp !== stamp) {
        const mine = { stamp, text: settings.at(version, ctx.db).then((found) => compose(ctx, found)) };
        kept = mine;
        mine.text.catch(() => {
          if (kept === mine) kept = undefined;
        });
      }
      return await kept!.text;
    },
  };
}

async function compose(ctx: Ctx, settings: WorkspaceSettings): Promise<JsonText> {
  const { values } = settings;
  const rows = await query(ctx.db).rows`select
       (select coalesce(json_agg(json_build_object('id', id, 'key', key, 'label', label, 'description',
       description,
          'is_enabled', is_enabled, 'built_in', built_in, 'sort_order', sort_order, 'translations',
          translations)
          order by sort_order, key), '[]') from compliance_regulations) as regulations,
       (select coalesce(json_agg(json_build_object('id', id, 'kind', kind, 'key', key, 'label', label,
          'description', description, 'icon', icon, 'is_enabled', is_enabled, 'built_in', built_in,
          'sort_order', sort_order, 'translations', translations)
          order by kind, sort_order, key), '[]') from resource_types) as resource_types`;
  return JSON.stringify({
    currency: values.currency,
    date_format: values.date_format,
    app_title: values.app_title,
    bpm_enabled: values.bpm_enabled,
    ppm_enabled: values.ppm_enabled,
    ai_analysis_enabled: values.ai_analysis_enabled,
    grc_enabled: values.grc_enabled,
    file_uploads_enabled: values.file_uploads_enabled,
    fiscal_year_start: values.fiscal_year_start,
    archive_retention_days: values.archive_retention_days,
    bpm_row_order: values.bpm_row_order,
    show_principles_tab: values.principles_display,
    compliance_regulations: rows[0].regulations,
    resource_types: rows[0].resource_types,
    ...values.login_branding,
    smtp_configured: emailConfigured(settings),
  });
}
