import Type from 'typebox';
import { modernizationStatuses } from '../../domain/analysis/modernizations/modernizations.types.ts';
import { analysisTypes, runStatuses } from '../../domain/analysis/runs/runs.types.ts';
import { decisions } from '../../domain/governance/compliance/compliance.types.ts';
import { closed, OpenObject } from '../../domain/kernel/shapes.ts';
import { bounded } from './mcp.bounds.ts';
import { listOf } from './mcp.cards.tools.ts';
import { answer, Cursor, Id, listed, MOST_ITEMS, PageSize, Parameters, Thing } from './mcp.schemas.ts';
import { reading, type Tool, tool } from './mcp.tool.ts';
import { safety, write, writing, written } from './mcp.write.tools.ts';

const runs = '/ai-analysis/analysis-runs';

/** Where each analysis is started. */
const starts = {
  duplicates: '/ai-analysis/duplicates/analyse',
  vendors: '/ai-analysis/vendors/analyse',
  vendor_hierarchy: '/ai-analysis/vendors/resolve',
  modernizations: '/ai-analysis/modernizations/analyse',
  compliance: '/compliance/scans',
} as const;
type Startable = keyof typeof starts;
const startable = Object.keys(starts) as Startable[];
/** They take no body. */
const WITHOUT_OPTIONS: readonly Startable[] = ['vendors', 'vendor_hierarchy'];

/** Where what each analysis found is listed; duplicates have tools of their own. */
const results = {
  vendors: '/ai-analysis/vendors',
  vendor_hierarchy: '/ai-analysis/vendors/hierarchy',
  modernizations: '/ai-analysis/modernizations',
  compliance: '/compliance/findings',
} as const;

const oneOf = <T extends string>(values: readonly T[], description: string) =>
  Type.Unsafe<T>(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      { description },
    ),
  );

/** Tools that start analyses of the inventory and follow them. */
export const analysisTools: Tool[] = [
  tool({
    name: 'start_analysis',
    title: 'Start an analysis',
    description:
      'Starts an analysis of the whole inventory as a job: follow it with read_analysis_run or read_job. One of a kind is under way at a time. With `dry_run` (the default) it is only tried whether it would start.',
    input: Type.Object(
      {
        analysis: oneOf(
          startable,
          '`duplicates`, `vendors` (suppliers and what they supply), `vendor_hierarchy` (who owns whom, and products), `modernizations`, `compliance`',
        ),
        options: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), {
            description:
              'The body of the operation: of duplicates `card_types` and `mode` (changes, everything, learn), of modernizations `target_type` and `modernization_type`, of compliance `regulations`',
          }),
        ),
        dry_run: safety.dry_run,
      },
      closed,
    ),
    output: answer({
      dry_run: Type.Boolean({ description: 'Whether nothing was started' }),
      run_id: Type.Union([Type.String(), Type.Null()], { description: 'For read_analysis_run' }),
      job_id: Type.Union([Type.String(), Type.Null()], { description: 'For read_job' }),
    }),
    annotations: writing,
    async run({ analysis, options, dry_run }, { ask }) {
      const bodiless = WITHOUT_OPTIONS.includes(analysis) && options === undefined;
      const question = {
        method: 'POST',
        path: starts[analysis],
        ...(bodiless ? {} : { body: options ?? {} }),
      } as const;
      if (dry_run) {
        await write(ask, 'start_analysis', { dry_run }, question);
        return { dry_run, run_id: null, job_id: null, cuts: [] };
      }
      const { run_id, job_id } = (await ask(question)).body;
      return { dry_run, run_id, job_id, cuts: [] };
    },
  }),
  tool({
    name: 'list_analysis_runs',
    title: 'List runs of analyses',
    description: 'Runs with their figures and how far they are, the newest first.',
    input: Type.Object(
      {
        analysis_type: Type.Optional(oneOf(analysisTypes, 'Only those of this kind')),
        status: Type.Optional(oneOf(runStatuses, 'Only those in this state')),
        page_size: PageSize,
        cursor: Cursor,
      },
      closed,
    ),
    output: listed('Runs'),
    annotations: reading,
    async run({ cursor = '', ...query }, { ask }) {
      return listOf((await ask({ method: 'GET', path: runs, query: { ...query, cursor } })).body);
    },
  }),
  tool({
    name: 'read_analysis_run',
    title: 'Read a run of an analysis',
    description:
      'How far a run is, and when it has ended its figures, its error, and the parts that a model had a hand in.',
    input: Type.Object({ id: Id('The id of a run') }, closed),
    output: answer({ run: Thing('The run') }),
    annotations: reading,
    async run({ id }, { ask }) {
      const { body } = await ask({ method: 'GET', path: `${runs}/${id}` });
      const { value, cuts } = bounded({ run: body }, { items: MOST_ITEMS, text: 5_000 });
      return { ...value, cuts };
    },
  }),
  tool({
    name: 'list_analysis_results',
    title: 'List what an analysis found',
    description:
      'What the last run of an analysis found: suppliers and what they supply, who belongs to whom with products, cards to modernise, or compliance findings. Duplicates are listed by find_duplicates.',
    input: Type.Object(
      {
        analysis: oneOf(Object.keys(results) as (keyof typeof results)[], 'Which analysis'),
        filters: Parameters(
          'Parameters of the operation: `search`, `sort_by`, `sort_dir`; of vendors `category`; of vendor_hierarchy `vendor_type`, `parent_id`; of modernizations `target_type`, `modernization_type`, `priority`, `effort`, `status`, `card_id`; of compliance `regulation`, `status`, `severity`, `decision`, `category`, `card_id`',
        ),
        page_size: PageSize,
        cursor: Cursor,
      },
      closed,
    ),
    output: listed('Suppliers, candidates or findings'),
    annotations: reading,
    async run({ analysis, filters, page_size, cursor = '' }, { ask }) {
      const query = { ...filters, page_size, cursor };
      return listOf((await ask({ method: 'GET', path: results[analysis], query })).body);
    },
  }),
  tool({
    name: 'read_concentration',
    title: 'How much depends on few suppliers',
    description:
      'Shares of spend and of critical applications by group of suppliers, and the index of concentration, over all and by category.',
    input: Type.Object({}, closed),
    output: answer({ concentration: Thing('The figures') }),
    annotations: reading,
    async run(_input, { ask }) {
      const { body } = await ask({ method: 'GET', path: '/ai-analysis/vendors/concentration' });
      const { value, cuts } = bounded({ concentration: body }, { items: MOST_ITEMS, text: 1_000 });
      return { ...value, cuts };
    },
  }),
  tool({
    name: 'decide_modernization',
    title: 'Decide about a card to modernise',
    description:
      'Accepts or dismisses what list_analysis_results proposes for a card, or takes that back with `pending`; it holds for as often as the same is proposed. A dry run unless `dry_run` is false.',
    input: Type.Object(
      {
        id: Id('A candidate of list_analysis_results with `modernizations`'),
        status: oneOf(modernizationStatuses, 'What is decided'),
        ...safety,
      },
      closed,
    ),
    output: written('The candidate'),
    annotations: { ...writing, idempotentHint: true },
    run: ({ id, status, ...batch }, { ask }) =>
      write(ask, 'decide_modernization', batch, {
        method: 'PATCH',
        path: `${results.modernizations}/${id}/status`,
        body: { status },
      }),
  }),
  tool({
    name: 'decide_finding',
    title: 'Decide about a compliance finding',
    description:
      'Moves a finding of list_analysis_results on: from new to in_review, accepted or not_applicable; from in_review to mitigated, accepted, not_applicable or new; from mitigated to verified or in_review. A refusal names what is `allowed`. A dry run unless `dry_run` is false.',
    input: Type.Object(
      {
        id: Id('A finding of list_analysis_results with `compliance`'),
        decision: oneOf(
          decisions.filter((decision) => decision !== 'risk_tracked'),
          'What is decided',
        ),
        review_note: Type.Optional(
          Type.String({ maxLength: 10_000, description: 'Why; must be given for `accepted`' }),
        ),
        ...safety,
      },
      closed,
    ),
    output: written('The finding'),
    annotations: { ...writing, idempotentHint: true },
    run: ({ id, dry_run, batch_id, ...body }, { ask }) =>
      write(
        ask,
        'decide_finding',
        { dry_run, batch_id },
        { method: 'PATCH', path: `${results.compliance}/${id}`, body },
      ),
  }),
  tool({
    name: 'cancel_analysis_run',
    title: 'Cancel a run of an analysis',
    description: 'Ends a run that is under way within two seconds, whoever started it.',
    input: Type.Object({ id: Id('The id of a run') }, closed),
    output: answer({ run: OpenObject }),
    annotations: { ...writing, destructiveHint: true },
    async run({ id }, { ask }) {
      const { body } = await ask({ method: 'POST', path: `${runs}/${id}/cancel`, body: {} });
      const { value, cuts } = bounded({ run: body }, { items: MOST_ITEMS, text: 5_000 });
      return { ...value, cuts };
    },
  }),
];
