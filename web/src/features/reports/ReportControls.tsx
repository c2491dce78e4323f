import { NumberInput, Switch, TextInput } from '@mantine/core';
import { ControlSelect } from '../../kit/ControlSelect.tsx';
import { CardFinder } from '../../kit/finders.tsx';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import type { Params } from '../../kit/reports.ts';
import { parameterName, type Report, type ReportParameter } from './catalogue.ts';
import styles from './reports.module.css';

interface ControlsProps {
  report: Report;
  params: Params;
  onChange(change: Params): void;
}

/** A control for each parameter that the API description declares, then filter and scope. */
export function ReportControls({ report, params, onChange }: ControlsProps) {
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
            aria-label={t('reports.filter')}
            placeholder={t('reports.filter')}
            leftSection={<Icon name="filter_alt" />}
            size="sm"
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

/** Parameters that name a card type, or a field of the report's type. */
const namesType = (key: string) => /^(type|row_type|col_type)$/.test(key);
const namesField = (key: string) => /(_field|_axis)$|^group_by$/.test(key);

interface ControlProps {
  parameter: ReportParameter;
  /** The card type of the report. */
  type: string | undefined;
  value: Params[string];
  onChange(value: Params[string]): void;
}

/** A control for a parameter, by its declared type. */
function Control({ parameter, type, value, onChange }: ControlProps) {
  const t = useTexts();
  const { types, sections, label } = useMetamodel();
  const common = { label: parameterName(t, parameter.key), title: parameter.description };
  const known = value === undefined ? null : String(value);
  const placeholder = t('reports.automatic');
  const choose = (given: string | null) => onChange(given ?? undefined);
  if (parameter.type === 'boolean')
    return (
      <Switch
        {...common}
        size="xs"
        checked={String(value ?? parameter.default ?? false) === 'true'}
        onChange={(event) => onChange(event.target.checked || undefined)}
      />
    );
  if (parameter.type === 'integer' || parameter.type === 'number')
    return (
      <NumberInput
        {...common}
        w={110}
        min={parameter.minimum}
        max={parameter.maximum}
        placeholder={String(parameter.default ?? '')}
        value={value === undefined ? '' : Number(value)}
        onChange={(given) => onChange(given === '' ? undefined : Number(given))}
      />
    );
  if (parameter.enum)
    return (
      <ControlSelect
        {...common}
        clearable={parameter.default === undefined}
        placeholder={placeholder}
        value={known ?? (parameter.default === undefined ? null : String(parameter.default))}
        data={parameter.enum.map((one) => ({ value: one, label: parameterName(t, one) }))}
        onChange={(given) => choose(given === String(parameter.default) ? null : given)}
      />
    );
  const shownTypes = types
    .filter((one) => !one.is_hidden)
    .map((one) => ({ value: one.key, label: label(one) }));
  if (namesType(parameter.key))
    return (
      <ControlSelect
        {...common}
        clearable={parameter.default === undefined}
        placeholder={placeholder}
        value={known ?? (parameter.default === undefined ? null : String(parameter.default))}
        data={shownTypes}
        onChange={(given) => choose(given === String(parameter.default) ? null : given)}
      />
    );
  if (namesField(parameter.key) && type) {
    const fields = sections(type)
      .flatMap((section) => section.fields)
      .map((field) => ({ value: field.key, label: label(field) }));
    const others = parameter.key === 'group_by' ? shownTypes.filter((one) => one.value !== type) : [];
    return (
      <ControlSelect
        {...common}
        clearable
        placeholder={placeholder}
        value={known ?? (typeof parameter.default === 'string' ? parameter.default : null)}
        data={
          others.length > 0
            ? [
                { group: t('reports.fields'), items: fields },
                { group: t('reports.types'), items: others },
              ]
            : fields
        }
        onChange={choose}
      />
    );
  }
  return (
    <TextInput
      {...common}
      w={180}
      defaultValue={String(value ?? '')}
      placeholder={String(parameter.default ?? '')}
      onBlur={(event) => onChange(event.target.value || undefined)}
    />
  );
}
