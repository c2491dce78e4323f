import type { Sql } from '../../../platform/database.ts';
import { anonymousCaller, type Caller, type Ctx } from '../../kernel/context.ts';
import { createResultCache } from '../../kernel/lists/result.cache.ts';
import { findRows } from '../../kernel/resources/rows.ts';
import { type PortalRow, WebPortal } from './portals.model.ts';

/** A cache of published portals. */
export interface PortalStore {
  /**
   * A published portal by its slug, at this version of the portals' topic or later. Drafts are not found, in the same
   * time as unknown slugs.
   */
  find(sql: Sql, slug: string, version: number): Promise<PortalRow | undefined>;
}

const CACHE_BYTES = 8 * 1024 * 1024;

export function createPortalStore(): PortalStore {
  const cache = createResultCache<PortalRow>(CACHE_BYTES, (row) => 2 * JSON.stringify(row).length);
  return {
    async find(sql, slug, version) {
      try {
        return await cache.get(`${version} ${slug}`, () => published(sql, slug));
      } catch (error) {
        if (error instanceof Unknown) return undefined;
        throw error;
      }
    },
  };
}

/** Thrown, so that unknown slugs are not cached. */
class Unknown extends Error {}

async function published(sql: Sql, slug: string): Promise<PortalRow> {
  const [portal] = await findRows(sql, WebPortal, (query) => query.where({ slug, is_published: true }));
  if (!portal) throw new Unknown();
  return portal;
}

/** The rights of the public, also for users who are logged in: cards and relations, but neither costs nor people. */
export const readerPermissions = ['inventory.view', 'relations.view'] as const;

const reader: Caller = {
  ...anonymousCaller,
  displayName: 'Web portal',
  permissions: new Set(readerPermissions),
};

/** The context in which portals are read. */
export const asReader = (ctx: Ctx): Ctx => ({ ...ctx, caller: reader });
