import { embed, fragment } from '../../../platform/database.ts';
import { readParams } from '../../inventory/metamodel/usage/params.ts';
import { References } from '../../inventory/metamodel/usage/references.ts';
import { defineConsumers } from '../../kernel/metamodel/consumers.define.ts';
import { changeRow } from '../../kernel/resources/items.ts';
import { lockRow } from '../../kernel/resources/rows.ts';
import { isObject } from '../../kernel/shapes.ts';
import { renamedEvent, visibleSavedReports } from './saved-reports.commands.ts';
import { SavedReport } from './saved-reports.model.ts';
import { keepSeen } from './saved-reports.seen.ts';

/** A dashboard has tiles, a tile a page, and a page a query. */
const MAX_DEPTH = 4;

/** Saved reports, queries, and dashboards with their tiles. */
export const savedReportConsumers = defineConsumers<Record<string, unknown>>({
  tables: ['saved_reports'],
  rows: (
    ctx,
  ) => fragment`select s.id::text, case s.report_type when 'dashboard' then 'dashboard' else 'report' end as kind, s.name,
      s.owner_id, null::timestamptz as last_used_at, '/api/v1/saved-reports/' || s.id as link,
      ${embed(visibleSavedReports(ctx))} as is_visible, s.config as content
    from saved_reports s`,
  references(config, metamodel) {
    const found = new References(metamodel);
    const read = (part: unknown, depth: number): void => {
      if (!isObject(part) || depth > MAX_DEPTH) return;
      readParams(found, part);
      for (const inner of [part.search, part.params, part.query, part.q, part.tiles].flat())
        read(inner, depth + 1);
    };
    read(config, 0);
    return found.all;
  },
  async write(work, id, config) {
    const row = await lockRow(work.sql, SavedReport, { id });
    if (!row) return;
    await changeRow(work, SavedReport, row, { config }, renamedEvent);
    await keepSeen(work.sql, row);
  },
});
