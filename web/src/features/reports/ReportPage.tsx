import { Button, Menu, NumberInput, Select, Switch, TextInput } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { Page } from '../../kit/Page.tsx';
import { RouteMissing } from '../../shell/RouteStates.tsx';
import { type Report, type ReportParameter, reportOf, titleOf } from './catalogue.ts';
import { fetchReport, reportUrl, useReportPicture } from './picture.ts';
import { ReportsPage } from './ReportsPage.tsx';
import styles from './reports.module.css';

type Params = Record<string, string | number | boolean | undefined>;

const downloads = [
  { accept: 'image/svg+xml', extension: 'svg' },
  { accept: 'image/png', extension: 'png' },
  { accept: 'text/csv', extension: 'csv' },
  { accept: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', extension: 'xlsx' },
];

/** All reports, or the one that the address names: its controls, its picture, and its downloads. */
export function ReportPage() {
  const { _splat: name = '' } = useParams({ strict: false });
  if (name === '') return <ReportsPage />;
  const report = reportOf(name);
  return report ? <ReportView key={name} report={report} /> : <RouteMissing />;
}

function ReportView({ report }: { report: Report }) {
  const t = useTexts();
  const params: Params = useSearch({ from: '/app/reports/$' });
  const navigate = useNavigate({ from: '/reports/$' });
  const { ref, width } = useElementSize();
  const size = width > 0 ? Math.max(320, Math.min(2000, Math.round(width / 40) * 40)) : 1200;
  const { src, error, isLoading } = useReportPicture(report.name, params, size);
  const set = (key: string, value: string | number | boolean | undefined) =>
    void navigate({ search: { ...params, [key]: value === '' ? undefined : value } as never, replace: true });
  const download = async ({ accept, extension }: (typeof downloads)[number]) => {
    const address = URL.createObjectURL(await fetchReport(reportUrl(report.name, params), accept));
    const link = Object.assign(document.createElement('a'), {
      href: address,
      download: `${report.name.replaceAll('/', '-')}.${extension}`,
    });
    link.click();
    URL.revokeObjectURL(address);
  };
  return (
    <Page
      title={
        <>
          <Link to="/reports/$" params={{ _splat: '' }} search={{}} className="secondary">
            {t('nav.reports')}
          </Link>
          <span className="muted">/</span>
          <h1>{titleOf(report)}</h1>
        </>
      }
      actions={
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" leftSection={<Icon name="download" />}>
              {t('reports.download')}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {downloads.map((one) => (
              <Menu.Item key={one.extension} onClick={() => download(one)}>
                {one.extension.toUpperCase()}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      }
    >
      <div className={styles.controls}>
        {report.parameters.map((parameter) => (
          <Control
            key={parameter.key}
            parameter={parameter}
            value={params[parameter.key]}
            onChange={(value) => set(parameter.key, value)}
          />
        ))}
        {report.takesAsOf && (
          <TextInput
            type="date"
            label={t('reports.asOf')}
            value={String(params.as_of ?? '')}
            onChange={(event) => set('as_of', event.target.value)}
          />
        )}
        {report.takesFilter && (
          <TextInput
            label={t('reports.filter')}
            placeholder="attributes.timeModel = invest"
            w={280}
            defaultValue={String(params.filter ?? '')}
            onBlur={(event) => set('filter', event.target.value)}
            onKeyDown={(event) => event.key === 'Enter' && set('filter', event.currentTarget.value)}
          />
        )}
      </div>
      <div ref={ref} className={styles.chart} aria-busy={isLoading} data-stale={isLoading}>
        {error ? <p role="alert">{error.message}</p> : src && <img src={src} alt={report.summary} />}
      </div>
    </Page>
  );
}

/** The field that a parameter names is chosen among those of the metamodel. */
const namesType = (key: string) => /^(type|row_type|col_type)$/.test(key);

const words = (key: string) => key.charAt(0).toUpperCase() + key.slice(1).replaceAll('_', ' ');

interface ControlProps {
  parameter: ReportParameter;
  value: string | number | boolean | undefined;
  onChange(value: string | number | boolean | undefined): void;
}

/** A control for a parameter, by its declared type. */
function Control({ parameter, value, onChange }: ControlProps) {
  const { types, label } = useMetamodel();
  const common = { label: words(parameter.key), title: parameter.description };
  const options = parameter.enum ?? undefined;
  if (parameter.type === 'boolean')
    return (
      <Switch
        {...common}
        size="xs"
        className={styles.switch}
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
  if (options || namesType(parameter.key))
    return (
      <Select
        {...common}
        w={180}
        clearable
        searchable
        placeholder={String(parameter.default ?? '')}
        value={value === undefined ? null : String(value)}
        data={
          options ??
          types.filter((one) => !one.is_hidden).map((one) => ({ value: one.key, label: label(one) }))
        }
        onChange={(given: string | null) => onChange(given ?? undefined)}
      />
    );
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
