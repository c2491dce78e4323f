import { type ChartContext, typeNames, typePaint, typePlural } from './charts.labels.ts';
import { chartText } from './charts.texts.ts';
import type { GraphChart } from './charts.types.ts';

interface DrawnNode {
  id: string;
  name: string;
  type: string;
}

/** The category whose types are apart, since data flows between them. */
const SPLIT = 'Application & Data';

/**
 * The layers from left to right by the categories of the metamodel. Applications, what lies between them, and, around a center,
 * the applications behind that have layers of their own.
 */
export function layersOfTypes(
  nodes: readonly DrawnNode[],
  edges: readonly { source: string; target: string }[],
  center: DrawnNode | undefined,
  context: ChartContext,
): Pick<GraphChart, 'layers' | 'groups' | 'nodes'> {
  const types = [...context.metamodel.cardTypes];
  const categoryOf = (key: string) => context.metamodel.cardTypes.get(key)?.category ?? '';
  const near = new Set([center?.id ?? '']);
  for (const { source, target } of edges) {
    if (source === center?.id) near.add(target);
    if (target === center?.id) near.add(source);
  }
  const first = center && categoryOf(center.type) === SPLIT ? center.type : 'Application';
  const isFar = ({ id, type }: DrawnNode) => center !== undefined && type === first && !near.has(id);
  const connected = chartText(context, 'layer.connected', typeNames(context, first));
  const nameOf = (category: string) =>
    types.find(([, type]) => type.category === category)?.[1].category_label ?? category;
  const categories = [...new Set(types.map(([, { category }]) => category ?? ''))];
  const layers = categories.flatMap((category) =>
    category === SPLIT
      ? [
          { key: 'own', name: typePlural(context, first) },
          { key: SPLIT, name: chartText(context, 'layer.data') },
          { key: 'far', name: connected },
        ]
      : [{ key: category, name: category === '' ? chartText(context, 'layer.others') : nameOf(category) }],
  );
  const layerOf = (type: string) => (type === first && categoryOf(type) === SPLIT ? 'own' : categoryOf(type));
  const groups = types.map(([key]) => ({
    key,
    name: typePlural(context, key),
    paint: typePaint(context, key),
    layer: layerOf(key),
  }));
  const far = { key: 'far', name: connected, paint: typePaint(context, first), layer: 'far' };
  return {
    layers,
    groups: [...groups, far],
    nodes: nodes.map((node) => ({
      id: node.id,
      name: node.name,
      group: isFar(node) ? 'far' : node.type,
      ...(node === center ? { centre: true } : {}),
    })),
  };
}
