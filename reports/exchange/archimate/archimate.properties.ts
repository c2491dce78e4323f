import { isWritable, PREFIX, propertyOf } from '../../../domain/exchange/archimate/archimate.map.ts';
import { xmlText } from '../../../platform/xml.ts';

/** Collects property definitions of a model as its properties are written. */
export interface Definitions {
  /** Writes properties as XML in the given order, without empty values. */
  xml(values: Iterable<[string, unknown]>): string;
  /** Writes texts that no ArchiMate element can represent. */
  unwritable(texts: Record<string, unknown>): [string, unknown][];
  /** Writes all definitions that were used so far. */
  definitionsXml(): string;
}

export function createDefinitions(): Definitions {
  const defined = new Map<string, string>();
  return {
    xml(values) {
      const parts: string[] = [];
      for (const [name, value] of values) {
        if (value === null || value === undefined) continue;
        const { key, text } = propertyOf(name, value);
        if (!defined.has(key)) defined.set(key, `prop-${defined.size + 1}`);
        parts.push(
          `<property propertyDefinitionRef="${defined.get(key)}"><value xml:lang="en">${xmlText(text)}</value></property>`,
        );
      }
      return parts.length > 0 ? `<properties>${parts.join('')}</properties>` : '';
    },
    unwritable: (texts) =>
      Object.entries(texts).filter(([, text]) => typeof text === 'string' && !isWritable(text)),
    definitionsXml() {
      if (defined.size === 0) return '';
      const each = [...defined].map(
        ([key, id]) =>
          `<propertyDefinition identifier="${id}" type="string"><name>${xmlText(PREFIX + key)}</name></propertyDefinition>\n`,
      );
      return `<propertyDefinitions>\n${each.join('')}</propertyDefinitions>\n`;
    },
  };
}
