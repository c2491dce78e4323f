import { SegmentedControl, TextInput } from '@mantine/core';
import { ControlSelect } from '../../kit/ControlSelect.tsx';
import { CardFinder } from '../../kit/finders.tsx';
import { Icon } from '../../kit/Icon.tsx';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { type Measure, rulesOf } from './map.colours.ts';
import type { useMapTypes } from './map.data.ts';
import styles from './map.module.css';
import type { MapSearch, Rule } from './map.search.ts';

export type MapTypes = ReturnType<typeof useMapTypes>;
/** Changes the address. */
export type Go = (change: Partial<MapSearch>) => void;

interface ControlsProps {
  search: MapSearch;
  types: MapTypes;
  boxes: string;
  inside: string;
  measures: readonly Measure[];
  measure: Measure;
  rule: Rule | undefined;
  levels: number;
  go: Go;
}

/** What the map shows, and in which colours. */
export function MapControls({
  search,
  types,
  boxes,
  inside,
  measures,
  measure,
  rule,
  levels,
  go,
}: ControlsProps) {
  const t = useTexts();
  const { label, type: typeOf } = useMetamodel();
  const rules = rulesOf(measure);
  return (
    <div className={styles.controls}>
      {types.offeredBoxes.length > 1 && (
        <ControlSelect
          label={t('map.boxes')}
          value={boxes}
          data={types.offeredBoxes.map((one) => ({ value: one.key, label: label(one) }))}
          onChange={(value) =>
            go({
              boxes: value ?? undefined,
              inside: undefined,
              colour: undefined,
              root: undefined,
              peek: undefined,
              only: undefined,
            })
          }
        />
      )}
      <ControlSelect
        label={t('map.inside')}
        value={inside}
        width={150}
        data={types.offeredInside.map((one) => ({ value: one.key, label: label(one) }))}
        onChange={(value) => go({ inside: value ?? undefined, colour: undefined, only: undefined })}
      />
      <ControlSelect
        label={t('map.colour')}
        value={measure.key}
        width={190}
        data={groupsOf(measures, (type) => label(typeOf(type)!))}
        onChange={(value) => go({ colour: value ?? undefined, rule: undefined, only: undefined })}
      />
      {rules.length > 0 && (
        <ControlSelect
          label={t('map.rule')}
          value={rule!}
          data={rules.map((one) => ({ value: one, label: t(`map.rule.${one}` as MessageKey) }))}
          onChange={(value) => go({ rule: (value ?? undefined) as Rule | undefined, only: undefined })}
        />
      )}
      <CardFinder
        look="control"
        types={[]}
        label={t('map.scope')}
        placeholder={t('map.everything')}
        width={170}
        value={search.scope}
        onPick={({ id, type }) => go(type === boxes ? { root: id, scope: undefined } : { scope: id })}
        onClear={() => go({ scope: undefined })}
      />
      <TextInput
        key={search.filter}
        aria-label={t('map.filter')}
        placeholder={t('map.filter')}
        leftSection={<Icon name="filter_alt" />}
        size="sm"
        w={170}
        defaultValue={search.filter ?? ''}
        onBlur={(event) => go({ filter: event.target.value.trim() || undefined })}
        onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
      />
      <div className={styles.levels}>
        <span>{t('map.levels')}</span>
        <SegmentedControl
          size="xs"
          aria-label={t('map.levels')}
          value={String(levels)}
          data={['1', '2', '3']}
          onChange={(value) => go({ levels: value === '3' ? undefined : Number(value) })}
        />
      </div>
    </div>
  );
}

/** The measures of the cards inside, then those of the boxes. */
function groupsOf(measures: readonly Measure[], nameOf: (type: string) => string) {
  return [...Map.groupBy(measures, ({ type }) => type)].map(([type, own]) => ({
    group: nameOf(type),
    items: own.map(({ key, label }) => ({ value: key, label })),
  }));
}
