import { PassThrough, Readable } from 'node:stream';
import {
  type ArchimateExport,
  archimateExportJob,
} from '../../../domain/exchange/archimate/archimate.jobs.ts';
import {
  elementType,
  NAMESPACE,
  relationshipType,
} from '../../../domain/exchange/archimate/archimate.map.ts';
import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { snapshotPosition } from '../../../domain/kernel/events/changes.ts';
import { rightsOfFile, storeContent } from '../../../domain/kernel/files/files.store.ts';
import { type StartedJob, startJob } from '../../../domain/kernel/jobs/jobs.enqueue.ts';
import type { JobResult, RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { type Snapshot, withSnapshot } from '../../../platform/snapshot.ts';
import { xmlText } from '../../../platform/xml.ts';
import { finishWithFile } from '../../kernel/report.result.ts';
import { planExtraction } from '../extraction/extraction.plan.ts';
import { prepareExtraction } from '../extraction/extraction.write.ts';
import { createDefinitions, readViews, viewXml } from './archimate.views.ts';

type Row = Record<string, unknown>;

const requestOf = (kind: ExportRequest['kind'], { types, filter }: ArchimateExport): ExportRequest => ({
  format: 'ndjson',
  kind,
  types: kind === 'cards' ? types : [],
  filter,
  columns: [],
  include: [],
  profile: 'roundtrip',
  neutralise: false,
});

/** Checks a model export and enqueues its job. @throws EstateError `forbidden`, `validation_failed`. */
export async function startModelExport(ctx: Ctx, request: ArchimateExport): Promise<StartedJob> {
  requireRights(ctx, request);
  await planExtraction(ctx, requestOf('cards', request));
  return await startJob(ctx, archimateExportJob, request, (id) => ({
    event_type: 'export.started',
    data: { ...request, format: 'archimate', export_job_id: id },
  }));
}

function requireRights({ caller }: Ctx, { views }: ArchimateExport): void {
  requirePermission(caller, 'inventory.export');
  requirePermission(caller, 'relations.view');
  if (views) requirePermission(caller, 'diagrams.view');
}

/** Writes the cards, relations and diagrams that the owner may see as one model, from one snapshot. */
export async function runModelExport(
  job: RunningJob<ArchimateExport>,
  services: Services,
): Promise<JobResult> {
  const { ctx, payload } = job;
  requireRights(ctx, payload);
  const rights = await rightsOfFile(ctx, 'inventory.export', 'relations.view', 'diagrams.view');
  return await withSnapshot(services.db, async (snapshot) => {
    const position = await snapshotPosition(snapshot);
    const counts = { elements: 0, relationships: 0, views: 0 };
    const content = await storeContent(
      services.blobs,
      Readable.from(modelXml(job, snapshot, position, counts), { objectMode: false }),
    );
    const name = `estate-model-${new Date().toISOString().slice(0, 10)}.xml`;
    const facts = { ...rights, name, mediaType: 'application/xml' };
    return await finishWithFile(job, services, content, facts, ({ size, sha256 }) => ({
      message: `${counts.elements} elements, ${counts.relationships} relationships, ${counts.views} views`,
      counts: { ...counts, total: counts.elements + counts.relationships + counts.views },
      result: { position, ...counts, size, sha256 },
    }));
  });
}

/** Reads the rows of a kind from the snapshot, in the round-trip profile. */
async function* rowsOf(
  { ctx, payload, signal }: RunningJob<ArchimateExport>,
  snapshot: Snapshot,
  kind: ExportRequest['kind'],
  position: string,
): AsyncGenerator<Row> {
  const plan = await planExtraction(ctx, requestOf(kind, payload));
  const { write } = await prepareExtraction(snapshot, ctx, plan, position);
  const out = new PassThrough();
  out.setEncoding('utf8');
  const writing = write(out, { signal });
  // the reader gets the failure as the stream's error
  writing.catch((error) => out.destroy(error as Error));
  let rest = '';
  for await (const chunk of out) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    for (const line of lines) if (line) yield JSON.parse(line) as Row;
  }
  await writing;
}

async function* modelXml(
  job: RunningJob<ArchimateExport>,
  snapshot: Snapshot,
  position: string,
  counts: { elements: number; relationships: number; views: number },
): AsyncGenerator<string> {
  const definitions = createDefinitions();
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<model xmlns="${NAMESPACE}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="${NAMESPACE} http://www.opengroup.org/xsd/archimate/3.1/archimate3_Diagram.xsd" identifier="estate-inventory">\n<name xml:lang="en">Estate</name>\n`;

  const ids = new Set<string>();
  const parents: { id: string; parent: string }[] = [];
  for await (const row of rowsOf(job, snapshot, 'cards', position)) {
    if (counts.elements === 0) yield '<elements>\n';
    counts.elements += 1;
    const { name, description, parent_path: _, ...rest } = row;
    const id = String(row.id);
    ids.add(id);
    if (row.parent_id) parents.push({ id, parent: String(row.parent_id) });
    yield concept('element', `identifier="id-${id}" xsi:type="${elementType(String(row.type))}"`, {
      name: String(name),
      documentation: (description as string | null) ?? null,
      properties: definitions.xml([...definitions.unwritable({ name, description }), ...flat(rest)]),
    });
  }
  if (counts.elements > 0) yield '</elements>\n';

  const views = job.payload.views ? await readViews(job.ctx) : [];
  const viewed = new Set(views.flatMap(({ shapes }) => shapes.map(({ card }) => card)));
  const joined = new Map<string, string>();
  let open = false;
  const begin = () => {
    const tag = open ? '' : '<relationships>\n';
    open = true;
    return tag;
  };
  for (const { id, parent } of parents) {
    if (!ids.has(parent)) continue;
    const ends = `source="id-${parent}" target="id-${id}"`;
    yield `${begin()}<relationship identifier="parent-${id}" ${ends} xsi:type="Composition"/>\n`;
  }
  for await (const row of rowsOf(job, snapshot, 'relations', position)) {
    const [source, target] = [String(row.source_id), String(row.target_id)];
    if (!ids.has(source) || !ids.has(target)) continue;
    counts.relationships += 1;
    if (viewed.has(source) && viewed.has(target)) joined.set(`${source} ${target}`, String(row.id));
    const { description, ...rest } = row;
    const kind = relationshipType(String(row.type));
    const ends = `source="id-${source}" target="id-${target}"`;
    yield `${begin()}${concept('relationship', `identifier="id-${row.id}" ${ends} xsi:type="${kind}"`, {
      name: job.ctx.metamodel.relationTypes.get(String(row.type))?.label ?? '',
      documentation: (description as string | null) ?? null,
      properties: definitions.xml([...definitions.unwritable({ description }), ...flat(rest)]),
    })}`;
  }
  if (open) yield '</relationships>\n';

  const drawn: string[] = [];
  for (const view of views) {
    counts.views += 1;
    drawn.push(await viewXml(job.ctx, view, { ids, joined, definitions }));
  }
  yield definitions.definitionsXml();
  if (drawn.length > 0) {
    yield '<views><diagrams>\n';
    yield* drawn;
    yield '</diagrams></views>\n';
  }
  yield '</model>\n';
}

/** Writes a concept as XML: its name, documentation and properties. */
function concept(
  tag: string,
  attributes: string,
  { name, documentation, properties }: { name: string; documentation: string | null; properties: string },
): string {
  const said =
    documentation === null ? '' : `<documentation xml:lang="en">${xmlText(documentation)}</documentation>`;
  return `<${tag} ${attributes}><name xml:lang="en">${xmlText(name)}</name>${said}${properties}</${tag}>\n`;
}

/** Flattens a row into properties; `attributes` and `lifecycle` give one property per key. */
function* flat(row: Row): Generator<[string, unknown]> {
  for (const [key, value] of Object.entries(row)) {
    if ((key === 'attributes' || key === 'lifecycle') && value !== null && typeof value === 'object') {
      for (const [member, inner] of Object.entries(value)) yield [`${key}.${member}`, inner];
    } else yield [key, value];
  }
}
