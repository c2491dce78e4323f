import {
  dropRemoteLinks,
  dropUnreadLinks,
  keepRemoteLinks,
  rememberedLinks,
} from '../../../domain/exchange/itsm/runs.links.ts';
import { readAhead } from './run.read.ahead.ts';
import type { RunWork } from './run.types.ts';

/**
 * Reads the relations of the mapped kinds. What has been told about them is kept beyond the run, so that a reading of
 * what has changed leaves them all known, also those whose ends get cards only later.
 */
export async function readRelations(work: RunWork, phase: 'relations' | 'relation_deletions'): Promise<void> {
  const types = [...new Set(work.loaded.mapping.relations.map(({ remoteType }) => remoteType))];
  if (types.length === 0) return;
  if (phase === 'relations') await readLinks(work, types);
  else await readGone(work);
}

async function readLinks(work: RunWork, types: string[]): Promise<void> {
  const { connector, mappingId, runId, complete, book } = work;
  const since = complete ? null : book.links_watermark;
  const pages = readAhead(work, (cursor) =>
    connector.readRelations({ types, since, limit: work.page, cursor }),
  );
  for await (const page of pages) {
    const { state } = work;
    const rows = page.relations.map(({ id, type, from, to }) => ({
      remote_relation_id: id,
      remote_type: type,
      from_id: from,
      to_id: to,
    }));
    await work.keep(
      {
        cursor: page.next,
        relations: state.relations + rows.length,
        linksWithheld: state.linksWithheld || page.withheld,
        newestLink: page.relations.reduce<string | null>(
          (newest, { updatedAt }) => (newest === null || updatedAt > newest ? updatedAt : newest),
          state.newestLink,
        ),
      },
      (sql) => keepRemoteLinks(sql, mappingId, runId, rows),
    );
  }
  if (since === null && !work.state.linksWithheld) {
    await work.keep({}, (sql) => dropUnreadLinks(sql, mappingId, runId));
  }
}

async function readGone(work: RunWork): Promise<void> {
  const { connector, db, mappingId, book } = work;
  if (book.links_watermark === null) return;
  const told = await connector.relationDeletionsSince(book.links_watermark);
  const ids = await rememberedLinks(
    db,
    mappingId,
    told.map(({ id }) => id),
  );
  if (ids.length === 0) return;
  const there = connector.relationsThere ? await connector.relationsThere(ids) : new Set();
  const gone = ids.filter((id) => !there.has(id));
  await work.keep({}, (sql) => dropRemoteLinks(sql, mappingId, gone));
}
