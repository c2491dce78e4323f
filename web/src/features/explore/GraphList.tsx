import { Link } from '@tanstack/react-router';
import { TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import type { Graph, GraphEdge } from './explorer.data.ts';
import styles from './explorer.module.css';
import { useVerb } from './verbs.ts';

interface GraphListProps {
  graph: Graph;
  center: string;
  onCenter(id: string): void;
}

/** The graph as a tree of lists: the relations of the centre, and those of its neighbours. */
export function GraphList({ graph, center, onCenter }: GraphListProps) {
  const t = useTexts();
  const byEnd = new Map<string, GraphEdge[]>();
  for (const edge of graph.edges) {
    for (const end of [edge.source, edge.target]) byEnd.set(end, [...(byEnd.get(end) ?? []), edge]);
  }
  const node = graph.nodes.get(center);
  if (!node) return null;
  return (
    <div className={styles.tree}>
      <h2 className={styles.name}>
        <TypeMark type={node.type} size={24} /> {node.name}
      </h2>
      <p className="secondary">
        {t('explorer.size', { cards: graph.nodes.size, relations: graph.edges.length })}
      </p>
      <Branch
        id={center}
        above={new Set([center])}
        byEnd={byEnd}
        graph={graph}
        onCenter={onCenter}
        levels={2}
      />
    </div>
  );
}

interface BranchProps {
  id: string;
  above: ReadonlySet<string>;
  byEnd: ReadonlyMap<string, GraphEdge[]>;
  graph: Graph;
  onCenter(id: string): void;
  levels: number;
}

function Branch({ id, above, byEnd, graph, onCenter, levels }: BranchProps) {
  const t = useTexts();
  const verb = useVerb();
  const edges = (byEnd.get(id) ?? []).filter(
    ({ source, target }) => !above.has(source === id ? target : source),
  );
  if (edges.length === 0 || levels === 0) return null;
  return (
    <ul>
      {[...Map.groupBy(edges, (edge) => verb(edge, id))].map(([name, own]) => (
        <li key={name}>
          <span className="secondary">
            {name} ({own.length})
          </span>
          <ul>
            {own.map((edge) => {
              const other = graph.nodes.get(edge.source === id ? edge.target : edge.source)!;
              return (
                <li key={`${edge.source} ${edge.target} ${edge.type}`}>
                  <span className={styles.entry}>
                    <TypeMark type={other.type} size={18} />
                    <Link to="/cards/$id" params={{ id: other.id }}>
                      {other.name}
                    </Link>
                    <button
                      type="button"
                      className={styles.here}
                      aria-label={t('explorer.centerOn', { name: other.name })}
                      onClick={() => onCenter(other.id)}
                    >
                      {t('explorer.centerHere')}
                    </button>
                  </span>
                  <Branch
                    id={other.id}
                    above={new Set([...above, other.id, id])}
                    byEnd={byEnd}
                    graph={graph}
                    onCenter={onCenter}
                    levels={levels - 1}
                  />
                </li>
              );
            })}
          </ul>
        </li>
      ))}
    </ul>
  );
}
