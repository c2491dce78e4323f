import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import {
  call,
  type DependenciesReport,
  findCardPaths,
  type ReadDependenciesReportData,
  readCardImpact,
  readDependenciesReport,
} from '#client';
import type { ExplorerSearch } from './explorer.search.ts';

export interface GraphNode {
  id: string;
  name: string;
  type: string;
  lifecycle?: Record<string, string> | null;
}

export interface GraphEdge {
  source: string;
  target: string;
  type: string;
  flow?: 'forward' | 'reverse' | 'bidirectional';
}

/** Cards of a type that a card has too many of. */
interface LeftOut {
  card_id: string;
  type: string;
  count: number;
}

export interface Graph {
  nodes: ReadonlyMap<string, GraphNode>;
  edges: GraphEdge[];
  leftOut: LeftOut[];
}

/** Neighbours of one type beyond which they are counted only. */
const BUNDLE = 12;

type Query = NonNullable<ReadDependenciesReportData['query']>;

const dependencies = (query: Query) => ({
  queryKey: ['reports', 'dependencies', query],
  queryFn: async ({ signal }: { signal: AbortSignal }) =>
    (await call(readDependenciesReport({ signal, query }))) as DependenciesReport,
  placeholderData: keepPreviousData,
});

/** The cards around the centre, those that were asked for in addition, and the relations between them. */
export function useGraph({ center, depth, open = [], show = [], as_of }: ExplorerSearch) {
  const past = as_of ? { as_of: `${as_of}T23:59:59Z` } : {};
  const near = { fields: 'lifecycle', bundle: BUNDLE, ...past };
  const base = useQuery({
    ...dependencies({ ...near, center_id: center!, depth: depth ?? 2, roll_up: true }),
    enabled: center !== undefined,
  });
  const wanted = new Set(show.map((key) => key.split('|')[1]!));
  const bundled = (base.data?.bundles ?? []).filter(({ type }) => wanted.has(type)).slice(0, 10);
  const more = useQueries({
    queries: [
      ...open.map((id) => dependencies({ ...near, center_id: id, depth: 1 })),
      ...bundled.map(({ card_id, type }) =>
        dependencies({ fields: 'lifecycle', ...past, center_id: card_id, depth: 1, type }),
      ),
    ],
  });
  const answers = [base.data, ...more.map(({ data }) => data)];
  const stamp = [base, ...more].map(({ dataUpdatedAt }) => dataUpdatedAt).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the answers change with their times
  const graph = useMemo(() => mergedOf(answers, bundled), [stamp, center]);
  return { graph, error: base.error, isLoading: base.isPending || base.isPlaceholderData };
}

/** Where data flows along several flows between the same cards. */
const bothWays = (one: GraphEdge['flow'], other: GraphEdge['flow']): GraphEdge['flow'] =>
  one && other && one !== other ? 'bidirectional' : (other ?? one);

/** Several parts of the graph as one. @param added what was left out and then asked for. */
function mergedOf(answers: readonly (DependenciesReport | undefined)[], added: readonly LeftOut[]): Graph {
  const nodes = new Map<string, GraphNode>();
  const edges = new Map<string, GraphEdge>();
  for (const answer of answers) {
    for (const node of (answer?.nodes ?? []) as GraphNode[]) nodes.set(node.id, node);
    for (const edge of (answer?.edges ?? []) as GraphEdge[]) {
      const key = `${edge.source} ${edge.target} ${edge.type}`;
      const flow = bothWays(edges.get(key)?.flow, edge.flow);
      edges.set(key, flow ? { ...edge, flow } : edge);
    }
  }
  const isAdded = (one: LeftOut) =>
    added.some(({ card_id, type }) => card_id === one.card_id && type === one.type);
  return {
    nodes,
    edges: [...edges.values()].filter(({ source, target }) => nodes.has(source) && nodes.has(target)),
    leftOut: answers.flatMap((answer) => answer?.bundles ?? []).filter((one) => !isAdded(one)),
  };
}

/** The shortest paths from the centre to another card. */
export const usePaths = (from: string | undefined, to: string | undefined) =>
  useQuery({
    queryKey: ['card', from, 'paths', to],
    queryFn: ({ signal }) =>
      call(findCardPaths({ signal, path: { id: from! }, query: { to: to!, limit: 10 } })),
    enabled: from !== undefined && to !== undefined,
  });

/** What depends on a card. */
export const useImpact = (id: string | undefined) =>
  useQuery({
    queryKey: ['card', id, 'impact'],
    queryFn: ({ signal }) => call(readCardImpact({ signal, path: { id: id! }, query: { page_size: 500 } })),
    enabled: id !== undefined,
  });

/** Rows of one request of the whole graph. */
const PAGE = 5_000;
/** Cards of the whole graph that are drawn. */
const MOST = 30_000;

/** All cards with all relations. */
export const useWholeGraph = (as_of: string | undefined, isWanted: boolean) =>
  useQuery({
    queryKey: ['reports', 'dependencies', 'all', as_of],
    queryFn: async ({ signal }) => {
      const answers: DependenciesReport[] = [];
      let cursor: string | undefined;
      do {
        const query: Query = {
          fields: 'parent_id',
          page_size: PAGE,
          ...(cursor && { cursor }),
          ...(as_of && { as_of: `${as_of}T23:59:59Z` }),
        };
        const answer = (await call(readDependenciesReport({ signal, query }))) as DependenciesReport;
        answers.push(answer);
        cursor = answer.next_cursor ?? undefined;
      } while (cursor && answers.length * PAGE < MOST);
      return mergedOf(answers, []);
    },
    enabled: isWanted,
    staleTime: 10 * 60_000,
  });
