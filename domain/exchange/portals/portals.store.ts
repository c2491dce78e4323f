import type { Sql } from '../../../platform/database.ts';
import { anonymousCaller, type Caller, type Ctx } from '../../kernel/context.ts';
import { createResultCache } from '../../kernel/lists/result.cache.ts';
import type { PortalRow } from './portals.types.ts';

/** The published portals that a process has been asked for. */
export interface PortalStore {
  /**
   * A published portal by its slug, as it is at a version of the portals' topic or later. What is not published is looked
   * for in the same way as what is not there.
   */
  find(sql: Sql, slug: string, version: number): Promise<PortalRow | undefined>;
}

const KEPT_BYTES = 8 * 1024 * 1024;

export function createPortalStore(): PortalStore {
  const kept = createResultCache<PortalRow>(KEPT_BYTES, (row) => 2 * JSON.stringify(row).length);
  return {
    async find(sql, slug, version) {
      try {
        return await kept.get(`${version} ${slug}`, () => published(sql, slug));
      } catch (error) {
        if (error instanceof Unknown) return undefined;
        throw error;
      }
    },
  };
}

/** Thrown, not answered: slugs that people make up are not kept. */
class Unknown extends Error {}

async function published(sql: Sql, slug: string): Promise<PortalRow> {
  const { rows } = await sql.raw(
    'select to_jsonb(p) as portal from web_portals p where p.slug = ? and p.is_published',
    [slug],
  );
  if (!rows[0]) throw new Unknown();
  return rows[0].portal;
}

/** What whoever looks at a portal may see, also when logged in: cards and relations, but no costs and no people. */
export const readerPermissions = ['inventory.view', 'relations.view'] as const;

const reader: Caller = {
  ...anonymousCaller,
  displayName: 'Web portal',
  permissions: new Set(readerPermissions),
};

/** The context in which everything is read that a portal shows. */
export const asReader = (ctx: Ctx): Ctx => ({ ...ctx, caller: reader });
