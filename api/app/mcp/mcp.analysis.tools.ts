import Type from 'typebox';
import { Choice, object } from '../../../domain/kernel/shapes.ts';
import { write, writeArguments } from './mcp.batch.tools.ts';
import {
  answer,
  bounded,
  listed,
  MOST_ITEMS,
  Parameters,
  paging,
  reading,
  type Tool,
  tool,
  writing,
} from './mcp.tool.ts';

/** The path that starts each analysis. */
const starts = {
  duplicates: '/ai-analysis/duplicates/analyse',
  vendors: '/ai-analysis/vendors/analyse',
  vendor_hierarchy: '/ai-analysis/vendors/resolve',
  modernizations: '/ai-analysis/modernizations/analyse',
  compliance: '/compliance/scans',
} as const;
type Startable = keyof typeof starts;

/** The path that lists the results of each analysis; duplicates have separate tools. */
const results = {
  vendors: '/ai-analysis/vendors',
  vendor_hierarchy: '/ai-analysis/vendors/hierarchy',
  modernizations: '/ai-analysis/modernizations',
  compliance: '/compliance/findings',
} as const;

/** Tools that choose the operation of an analysis by an argument. */
export const analysisTools: Tool[] = [
  tool({
    name: 'start_analysis',
    title: 'Start an analysis',
    description:
      'Starts an analysis of the complete inventory as a job: poll it with read_analysis_run or read_job. Only one of each kind runs at a time. With `dry_run` (the default) it only checks whether the analysis could start.',
    input: object({
      analysis: Choice(
        Object.keys(starts) as Startable[],
        '`duplicates`, `vendors` (suppliers and what they supply), `vendor_hierarchy` (owners of suppliers, and products), `modernizations`, `compliance`',
      ),
      options: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description:
            'The body of the operation: of duplicates `card_types` and `mode` (changes, everything, learn), of modernizations `target_type` and `modernization_type`, of compliance `regulations`',
        }),
      ),
      dry_run: writeArguments.dry_run,
    }),
    output: answer({
      dry_run: Type.Boolean({ description: 'Whether nothing was started' }),
      run_id: Type.Union([Type.String(), Type.Null()], { description: 'For read_analysis_run' }),
      job_id: Type.Union([Type.String(), Type.Null()], { description: 'For read_job' }),
    }),
    annotations: writing,
    async run({ analysis, options = {}, dry_run }, api) {
      const request = { method: 'POST', path: starts[analysis], body: options };
      if (dry_run) {
        await write(api, 'start_analysis', { dry_run }, request);
        return { dry_run, run_id: null, job_id: null, cuts: [] };
      }
      const { run_id, job_id } = (await api(request)).body;
      return { dry_run, run_id, job_id, cuts: [] };
    },
  }),
  tool({
    name: 'list_analysis_results',
    title: 'List the results of an analysis',
    description:
      'The results of the last run of an analysis: suppliers and what they supply, owners of suppliers with products, cards to modernise, or compliance findings. Duplicates are listed by find_duplicates.',
    input: object({
      analysis: Choice(Object.keys(results) as (keyof typeof results)[], 'The analysis'),
      filters: Parameters(
        'Parameters of the operation: `search`, `sort_by`, `sort_dir`; of vendors `category`; of vendor_hierarchy `vendor_type`, `parent_id`; of modernizations `target_type`, `modernization_type`, `priority`, `effort`, `status`, `card_id`; of compliance `regulation`, `status`, `severity`, `decision`, `category`, `card_id`',
      ),
      ...paging,
    }),
    output: listed('Suppliers, candidates or findings'),
    annotations: reading,
    async run({ analysis, filters, page_size, cursor = '' }, api) {
      const query = { ...filters, page_size, cursor };
      const { items, next_cursor = null } = (await api({ method: 'GET', path: results[analysis], query }))
        .body;
      return bounded({ items, next_cursor }, { items: MOST_ITEMS, text: 1_000 });
    },
  }),
];
