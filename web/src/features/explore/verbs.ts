import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import type { GraphEdge } from './explorer.data.ts';

/** Says a relation from one of its ends, such as `supports` or `is supported by`. */
export function useVerb(): (edge: GraphEdge, from: string) => string {
  const t = useTexts();
  const { relationType, label } = useMetamodel();
  return ({ type, source }, from) => {
    if (type === 'data-flow') return t(source === from ? 'explorer.sends' : 'explorer.receives');
    const known = relationType(type);
    if (!known) return type;
    return source === from ? label(known) : (known.reverse_label ?? label(known));
  };
}
