import Type, { type Static } from 'typebox';
import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { type FindingStatus, findingStatuses, scores } from '../../governance/compliance/compliance.model.ts';
import {
  findingList,
  requireReader,
  unresolved,
  visibleFindings,
} from '../../governance/compliance/findings.list.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import { projection } from '../../kernel/lists/lists.sql.ts';
import type { Condition, Fragment, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { Choice, component, Nullable, NullableText, object, Timestamp, Uuid } from '../../kernel/shapes.ts';
import { runStatus } from '../runs/runs.queries.ts';
import { runStatuses } from '../runs/runs.types.ts';

/** A scan in responses. */
export const ScanSchema = component('ComplianceScan', {
  run_id: Nullable(Uuid),
  status: Nullable(Choice(runStatuses)),
  started_at: Nullable(Timestamp),
  completed_at: Nullable(Timestamp),
  error: Nullable(Type.String()),
  progress: Nullable(
    object({
      fraction: Type.Number({ minimum: 0, maximum: 1 }),
      message: NullableText('The current regulation'),
      counts: Type.Record(Type.String(), Type.Number()),
    }),
  ),
  summary: Nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        '`regulations`: by key the numbers of rules, checked cards, gaps, and findings that were found, reopened, changed, resolved and unchanged, the `skipped` rules, and in `assessed_by_model` the number of cards that a language model assessed; `without_rules`: regulations without rules; `model_stopped`: why the model was no longer used',
    }),
  ),
});
type ScanRun = Static<typeof ScanSchema>;

const noScan: ScanRun = {
  run_id: null,
  status: null,
  started_at: null,
  completed_at: null,
  error: null,
  progress: null,
  summary: null,
};

/** The latest scan, preferring one in progress. */
async function newestScan(sql: Sql, running: boolean): Promise<ScanRun | null> {
  const rows = await query(sql).rows`select r.id as run_id, ${embed(runStatus)} as status,
       utc(coalesce(r.started_at, r.created_at)) as started_at,
       utc(coalesce(r.completed_at, j.finished_at)) as completed_at, r.error_message as error,
       json_build_object('fraction', case when r.status = 'completed' then 1 else coalesce(j.progress, 0) end,
         'message', j.message, 'counts', coalesce(j.counts, '{}')) as progress,
       r.results as summary
     from analysis_runs r left join jobs j on j.id = r.job_id
     where r.analysis_type = 'compliance' ${embed(running ? `and ${runStatus} = 'running'` : '')}
     order by r.created_at desc, r.id desc limit 1`;
  return rows[0] ?? null;
}

/** The scan in progress. @throws EstateError `forbidden`. */
export async function activeScans(ctx: Ctx): Promise<{ compliance: ScanRun | null }> {
  requireReader(ctx);
  return { compliance: await newestScan(ctx.db, true) };
}

export const ComplianceScore = Type.Integer({
  minimum: 0,
  maximum: 100,
  description:
    'The mean over unresolved findings on active cards: compliant and not applicable 100, partial 50, review needed 30, non-compliant 0',
});
export const OverviewSchema = component('ComplianceOverview', {
  compliance_run: ScanSchema,
  compliance_scores: Type.Record(Type.String(), ComplianceScore, {
    description: 'By regulation, for regulations with findings',
  }),
  compliance_by_status: Type.Record(Type.String(), Type.Record(Type.String(), Type.Integer({ minimum: 1 })), {
    description: 'By regulation: number of findings by status',
  }),
});
type ComplianceOverview = Static<typeof OverviewSchema>;

/** The latest scan, and the number of visible findings by status. @throws EstateError `forbidden`. */
export async function readOverview(ctx: Ctx): Promise<ComplianceOverview> {
  requireReader(ctx);
  const rows = await query(ctx.db).rows`select f.regulation, f.status, count(*)::int as n
     from compliance_findings f left join cards c on c.id = f.card_id
     where ${embed(visibleFindings(ctx))} and ${embed(unresolved.sql)} group by 1, 2 order by 1, 2`;
  const byStatus: ComplianceOverview['compliance_by_status'] = {};
  for (const { regulation, status, n } of rows as {
    regulation: string;
    status: FindingStatus;
    n: number;
  }[]) {
    byStatus[regulation] ??= {};
    byStatus[regulation][status] = n;
  }
  return {
    compliance_run: (await newestScan(ctx.db, false)) ?? noScan,
    compliance_scores: Object.fromEntries(
      Object.entries(byStatus).map(([key, counts]) => [key, scoreOf(counts)]),
    ),
    compliance_by_status: byStatus,
  };
}

/** The rounded mean of the scores of findings. */
export function scoreOf(counts: Partial<Record<FindingStatus, number>>): number {
  let sum = 0;
  let total = 0;
  for (const status of findingStatuses) {
    const n = counts[status] ?? 0;
    total += n;
    sum += n * scores[status];
  }
  return total === 0 ? 0 : Math.round(sum / total);
}

/** The maximum number of findings in a bundle. */
const LISTED = 200;

/** {@link scoreOf} in SQL, over the alias `f`. */
const MEAN = `round(avg(case f.status ${findingStatuses
  .map((status) => `when '${status}' then ${scores[status]}`)
  .join(' ')} end))`;

export interface BundleFilter {
  regulation?: string;
  /** The filters of findings in the bundles. */
  status?: FindingStatus;
  include_auto_resolved: boolean;
}

/**
 * Findings by regulation, in the regulations' order: for each the 200 most severe, with the total number and the score
 * of all unresolved ones. A deleted regulation comes last, as long as it has findings.
 * @throws EstateError `forbidden`.
 */
export async function listBundles(ctx: Ctx, params: ListParams & BundleFilter): Promise<JsonText> {
  requireReader(ctx);
  const visible = visibleFindings(ctx);
  const asked: Condition[] = params.include_auto_resolved ? [] : [unresolved];
  if (params.status !== undefined) asked.push(fragment`f.status = ${params.status}`);
  const of = (select: Fragment | string, where: Condition[], end = ''): Fragment => {
    const what = typeof select === 'string' ? { sql: select, bindings: [] } : select;
    const all = [visible, ...where];
    return {
      sql: `(select ${what.sql} from ${findingList.from} where f.regulation = b.key and ${all.map(({ sql }) => sql).join(' and ')}${end})`,
      bindings: [...what.bindings, ...all.flatMap(({ bindings }) => bindings)],
    };
  };
  const item = projection(findingList.members, undefined);
  const select = fragment`${embed(item)} as item, ${embed(findingList.sorts.severity!.sql)} as rank, f.id`;
  const listed = of(select, asked, ` order by rank, f.id desc limit ${LISTED}`);
  const spec: ListSpec = {
    name: 'compliance-bundles',
    from: `(select key, label, is_enabled, true as is_known, sort_order from compliance_regulations
      union all
      select distinct f.regulation, null, false, false, 2147483647 from compliance_findings f
      where not exists (select from compliance_regulations r where r.key = f.regulation)) b`,
    id: 'b.key',
    idType: 'text',
    sorts: {
      sort_order: { sql: 'b.sort_order', type: 'numeric', filled: true },
      regulation: { sql: 'b.key', type: 'text', filled: true, immutable: true },
    },
    defaultSort: 'sort_order',
    members: {
      regulation: 'b.key',
      label: 'b.label',
      is_enabled: 'b.is_enabled',
      is_known: 'b.is_known',
      score: of(`coalesce(${MEAN}, 0)::int`, [unresolved]),
      findings_total: of('count(*)', asked),
      findings: fragment`(select coalesce(json_agg(item order by rank, id desc), '[]')
        from ${embed(listed)} listed)`,
    },
  };
  const where: Condition[] = params.regulation === undefined ? [] : [fragment`b.key = ${params.regulation}`];
  return await runList(ctx, spec, where, params, {
    asked: [params.regulation, params.status, params.include_auto_resolved],
  });
}
