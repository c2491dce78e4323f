import { createCardListMemory, listCards } from '../../../domain/inventory/cards/cards.list.ts';
import { readCard } from '../../../domain/inventory/cards/cards.read.ts';
import type { Api } from '../harness/api.ts';
import { compareLoad } from '../harness/load.ts';
import { percentile, timed, timesOf } from '../harness/measure.ts';
import { atLeast, type Row, under } from '../harness/rows.ts';
import type { Scenario } from '../harness/scenario.ts';
import { mulberry32, type Random } from '../landscape/random.ts';
import { type Reads, startRecorded } from './recorded.ts';

/** Loads the service and what responds with its queries alone. */
async function loadRows(
  name: string,
  api: Api,
  recorded: { url: string },
  paths: string[],
  seconds?: number,
): Promise<Row[]> {
  const { service, baseline } = await compareLoad(api, paths, { url: recorded.url, paths }, seconds);
  return [
    atLeast(name, service.requestsPerSecond, 'req/s', 0.4, baseline.requestsPerSecond),
    under(`${name}, p99 to p50`, service.p99Ms, 'ms', 6, service.p50Ms),
  ];
}

const CARDS = 200;

/** How fast single cards are read. */
export const card: Scenario = {
  name: 'card',
  async run({ service, client, api }) {
    const { rows } = await client.query<{ id: string }>(
      'select id from cards order by md5(id::text) limit $1',
      [CARDS],
    );
    const reads: Reads = {};
    for (const { id } of rows) reads[`/api/v1/cards/${id}`] = (ctx) => readCard(ctx, id);
    const recorded = await startRecorded(service.databaseUrl, reads);
    using _ = recorded.program;
    return await loadRows('one card', api, recorded, recorded.paths);
  },
};

const LIST_SECONDS = 2;
const PAGE_SIZE = 50;
const FILTER = { type: 'Application', status: 'ACTIVE', approval_status: 'DRAFT' };
const SORTS = [
  ...['name', 'type', 'subtype', 'status', 'approval_status', 'data_quality', 'created_at', 'updated_at'],
  'attributes.numberOfUsers',
];

/** How fast the first, the 100th and the last page of a filtered list are read in every documented order. */
export const list: Scenario = {
  name: 'list',
  async run({ service, api, log }) {
    const { total } = await api.get<{ total: number }>(`/cards?${new URLSearchParams(FILTER)}`);
    const pages = Math.ceil(total / PAGE_SIZE);
    const memory = createCardListMemory();
    const reads: Reads = {};
    const bySort = SORTS.map((sort_by) => {
      const paths = [1, Math.min(100, pages), pages].map((page) => {
        const params = { ...FILTER, page, page_size: PAGE_SIZE, sort_by };
        const path = `/api/v1/cards?${new URLSearchParams({ ...params, page: `${page}`, page_size: `${PAGE_SIZE}` })}`;
        reads[path] = (ctx) => listCards(ctx, params, { topics: new Map(), memory });
        return path;
      });
      return [sort_by, paths] as const;
    });
    const recorded = await startRecorded(service.databaseUrl, reads);
    using _ = recorded.program;
    const rows: Row[] = [];
    for (const [sort, paths] of bySort) {
      log(`list by ${sort}`);
      rows.push(...(await loadRows(`list by ${sort}`, api, recorded, paths, LIST_SECONDS)));
    }
    return rows;
  },
};

const QUERIES = 200;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** The text with one letter dropped, added, changed or swapped with its neighbour. */
function misspell(text: string, random: Random): string {
  for (;;) {
    const at = Math.floor(random() * text.length);
    const letter = LETTERS[Math.floor(random() * LETTERS.length)]!;
    const before = text.slice(0, at);
    const after = text.slice(at + 1);
    const typo = [
      before + after,
      before + letter + text.slice(at),
      before + letter + after,
      before + after.slice(0, 1) + text[at] + after.slice(1),
    ][Math.floor(random() * 4)]!;
    if (typo !== text) return typo;
  }
}

/** How fast a search with one typo is, and how often it finds the card that was meant. */
export const search: Scenario = {
  name: 'search',
  async run({ api, client, unit, args }) {
    const baseline = await unit();
    const { rows } = await client.query<{ id: string; name: string }>(
      `select id, name from cards where status = 'ACTIVE' order by md5(id::text) limit $1`,
      [QUERIES],
    );
    const random = mulberry32(args.seed);
    const searchFor = async (text: string) => {
      const query = new URLSearchParams({ search: text, page_size: '10', fields: 'id,name' });
      return await api.get<{ items: { id: string }[] }>(`/cards?${query}`);
    };
    // as in any service in use: connections and their prepared queries are there
    for (const { name } of rows.slice(0, QUERIES / 4)) await searchFor(name);
    let found = 0;
    const times = await timesOf(rows.length, async (at) => {
      const { id, name } = rows[at]!;
      const { items } = await searchFor(misspell(name, random));
      if (items.some((item) => item.id === id)) found += 1;
    });
    return [
      under('search, p50', percentile(times, 0.5), 'ms', 0.03, baseline),
      under('search, p99', percentile(times, 0.99), 'ms', 0.15, baseline),
      atLeast('search, right card of ten', (found / rows.length) * 100, '%', 95),
    ];
  },
};

const criticalities = ['missionCritical', 'businessCritical', 'businessOperational', 'administrativeService'];
const related = 'relation.relAppToITC is not empty';

/** Conditions on a second attribute; together with the first each filter is another, so that no cached order answers it. */
const conditions: Record<string, string[]> = {
  'two options': ['tolerate', 'invest', 'migrate', 'eliminate'].map((model) => `timeModel = ${model}`),
  'an option and a number': [5_000, 8_000, 11_000, 14_000].map((users) => `numberOfUsers > ${users}`),
};

/** How fast the list answers filters over two attributes and a relation that it has not been asked before. */
export const filter: Scenario = {
  name: 'filter',
  async run({ api, unit, log }) {
    const baseline = await unit();
    const count = async (filter: string) => {
      const query = new URLSearchParams({ filter, page_size: '50' });
      return (await api.get<{ total: number }>(`/cards?${query}`)).total;
    };
    // as in any service in use: connections and their prepared queries are there
    await count(`${related} and attributes.numberOfUsers > 20000`);
    const rows: Row[] = [];
    for (const [name, second] of Object.entries(conditions)) {
      const filters = criticalities.flatMap((criticality) =>
        second.map(
          (condition) =>
            `type = Application and attributes.businessCriticality = ${criticality} and attributes.${condition} and ${related}`,
        ),
      );
      let found = 0;
      const times = await timesOf(filters.length, async (at) => {
        found += await count(filters[at]!);
      });
      log(`filter by ${name}: ${Math.round(found / filters.length)} cards on average`);
      rows.push(under(`filter by ${name} and a relation, p50`, percentile(times, 0.5), 'ms', 0.1, baseline));
    }
    return rows;
  },
};

/** How fast OData answers pages of filtered entities with related ones that it has not been asked for before. */
export const odata: Scenario = {
  name: 'odata',
  async run({ api, unit, log }) {
    const baseline = await unit();
    /** The text of the response: what a client makes of it is not the service's work. */
    const read = async (filter: string) => {
      const query = new URLSearchParams({ $filter: filter, $expand: 'RelAppToITC' });
      const response = await fetch(`${api.url}/odata/v4/Application?${query}`, {
        // as in all scenarios: measures the service, not zlib
        headers: { 'accept-encoding': 'identity', ...api.headers },
      });
      if (!response.ok) throw new Error(`OData: ${response.status} ${await response.text()}`);
      return await response.text();
    };
    // as in any service in use: connections are there, and the model is built
    await read("name eq 'nothing'");
    const times: number[] = [];
    let entities = 0;
    let relations = 0;
    for (const criticality of criticalities) {
      for (const least of [0, 200, 400, 800]) {
        let text = '';
        times.push(
          await timed(async () => {
            text = await read(`businessCriticality eq '${criticality}' and numberOfUsers gt ${least}`);
          }),
        );
        const { value: found } = JSON.parse(text) as { value: { RelAppToITC: unknown[] }[] };
        entities += found.length;
        relations += found.reduce((sum, entity) => sum + entity.RelAppToITC.length, 0);
      }
    }
    log(`OData: ${entities / times.length} entities and ${relations / times.length} related ones a page`);
    const figure = 'OData page with a filter on two attributes and an expanded relation, p50';
    return [under(figure, percentile(times, 0.5), 'ms', 0.3, baseline)];
  },
};
