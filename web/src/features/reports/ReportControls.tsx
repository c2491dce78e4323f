import { NumberInput, Switch, TextInput } from '@mantine/core';
import { ControlChecks } from '../../kit/ControlChecks.tsx';
import { ControlSelect, controlLook } from '../../kit/ControlSelect.tsx';
import { CardFinder } from '../../kit/finders.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { parameterName, type Report, type ReportParameter } from '../../kit/reportCatalogue.ts';
import type { Params } from '../../kit/reports.ts';
import styles from './reports.module.css';

interface ControlsProps {
  report: Report;
  params: Params;
  /** What the report chose for parameters that nobody set, by their keys. */
  automatic: Readonly<Record<string, string | undefined>>;
  onChange(change: Params): void;
}

/** A control for each parameter that the API description declares, then filter and scope. */
export function ReportControls({ report, params, automatic, onChange }: ControlsProps) {
  const t = useTexts();
  const byDefault = report.parameters.find(({ key }) => key === 'type')?.default;
  const type = String(params.type ?? byDefault ?? '') || undefined;
  return (
    <div className={styles.controls}>
      {report.parameters.map((parameter) => (
        <Control
          key={parameter.key}
          parameter={parameter}
          type={type}
          value={params[parameter.key]}
          automatic={automatic[parameter.key]}
          onChange={(value) => onChange({ [parameter.key]: value })}
        />
      ))}
      {report.takesFilter && (
        <>
          <CardFinder
            look="control"
            types={[]}
            label={t('map.scope')}
            placeholder={t('map.everything')}
            width={170}
            value={params.scope === undefined ? undefined : String(params.scope)}
            onPick={({ id }) => onChange({ scope: id })}
            onClear={() => onChange({ scope: undefined })}
          />
          <TextInput
            key={String(params.filter)}
            {...controlLook}
            label={t('reports.filter')}
            placeholder={t('reports.noFilter')}
            w={220}
            defaultValue={String(params.filter ?? '')}
            onBlur={(event) => onChange({ filter: event.target.value.trim() || undefined })}
            onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
          />
        </>
      )}
    </div>
  );
}

interface ControlProps {
  parameter: ReportParameter;
  /** The card type of the report. */
  type: string | undefined;
  value: Params[string];
  /** What the report chose, if nobody set it. */
  automatic: string | undefined;
  onChange(value: Params[string]): void;
}

/** A control for a parameter, by its declared type and choices. */
function Control(props: ControlProps) {
  const { parameter, value, onChange } = props;
  const t = useTexts();
  const common = { label: parameterName(t, parameter.key), title: parameter.description };
  const byDefault = parameter.default === undefined ? undefined : String(parameter.default);
  if (parameter.type === 'boolean')
    return (
      <Switch
        {...common}
        classNames={{ root: styles.switch! }}
        size="xs"
        checked={String(value ?? parameter.default ?? false) === 'true'}
        onChange={(event) => onChange(event.target.checked || undefined)}
      />
    );
  if (parameter.type === 'integer' || parameter.type === 'number')
    return (
      <NumberInput
        {...common}
        {...controlLook}
        hideControls
        w={150}
        min={parameter.minimum}
        max={parameter.maximum}
        placeholder={byDefault ?? t('reports.automatic')}
        value={value === undefined ? '' : Number(value)}
        onChange={(given) => onChange(given === '' ? undefined : Number(given))}
      />
    );
  if (parameter.format === 'uuid')
    return (
      <CardFinder
        look="control"
        types={[]}
        label={common.label}
        placeholder={t('map.everything')}
        width={190}
        value={value === undefined ? undefined : String(value)}
        onPick={({ id }) => onChange(id)}
        onClear={() => onChange(undefined)}
      />
    );
  if (parameter.enum || parameter.choices) return <Choice {...props} common={common} />;
  return (
    <TextInput
      {...common}
      {...controlLook}
      w={150}
      type={parameter.format === 'date' ? 'date' : 'text'}
      defaultValue={String(value ?? '')}
      placeholder={byDefault ?? t('reports.automatic')}
      onBlur={(event) => onChange(event.target.value || undefined)}
    />
  );
}

/** A parameter whose choices the API description or the metamodel knows. */
function Choice({
  parameter,
  common,
  type,
  value,
  automatic,
  onChange,
}: ControlProps & { common: { label: string; title: string | undefined } }) {
  const t = useTexts();
  const data = useChoices(parameter, type);
  const byDefault = parameter.default === undefined ? undefined : String(parameter.default);
  // such as fields before the type is chosen
  if (data.length === 0) return null;
  if (parameter.choices?.of === 'values')
    return (
      <ControlChecks
        {...common}
        placeholder={t('reports.all')}
        value={String(value ?? '')
          .split(',')
          .filter(Boolean)}
        data={data as { value: string; label: string }[]}
        onChange={(chosen) => onChange(chosen.join(',') || undefined)}
      />
    );
  return (
    <ControlSelect
      {...common}
      clearable={parameter.default === undefined}
      placeholder={automatic ?? t(parameter.key === 'type' ? 'reports.all' : 'reports.automatic')}
      value={value === undefined ? (byDefault ?? null) : String(value)}
      data={data}
      onChange={(given) => onChange(given === null || given === byDefault ? undefined : given)}
    />
  );
}

type Group = { group: string; items: { value: string; label: string }[] };

/** The choices of a parameter, with their names. */
function useChoices(
  { enum: values, choices }: ReportParameter,
  type: string | undefined,
): ({ value: string; label: string } | Group)[] {
  const t = useTexts();
  const { types, relationTypes, sections, label } = useMetamodel();
  const own = choices?.card_type ?? type;
  const listed = values ?? choices?.values;
  if (listed) return listed.map((one) => ({ value: one, label: parameterName(t, one) }));
  const related = new Set(
    relationTypes.flatMap(({ source_type_key: source, target_type_key: target }) =>
      source === own ? [target] : target === own ? [source] : [],
    ),
  );
  const isRelated = choices?.card_type !== undefined || choices?.of !== 'types';
  const named = types
    .filter(({ key, is_hidden }) => !is_hidden && (!isRelated || (related.has(key) && key !== own)))
    .map((one) => ({ value: one.key, label: label(one) }));
  if (choices?.of === 'types') return named;
  const fields = (own ? sections(own) : [])
    .flatMap((section) => section.fields)
    .filter((field) => choices?.field_types?.includes(field.type) ?? true)
    .map((field) => ({ value: field.key, label: label(field) }));
  if (choices?.of === 'fields') return fields;
  return [
    { group: t('reports.fields'), items: fields },
    { group: t('reports.types'), items: named },
  ];
}
