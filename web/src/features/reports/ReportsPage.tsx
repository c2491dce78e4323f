import { Link } from '@tanstack/react-router';
import { useTexts } from '../../kit/messages.tsx';
import { Page } from '../../kit/Page.tsx';
import { type Report, reports, titleOf } from './catalogue.ts';
import { useReportPicture } from './picture.ts';
import styles from './reports.module.css';

/** All reports, each with a picture of the workspace's own data. */
export function ReportsPage() {
  const t = useTexts();
  return (
    <Page title={<h1>{t('nav.reports')}</h1>}>
      <div className={styles.gallery}>
        {reports.map((report) => (
          <Preview key={report.name} report={report} />
        ))}
      </div>
    </Page>
  );
}

function Preview({ report }: { report: Report }) {
  const t = useTexts();
  const { src, error } = useReportPicture(report.name, {}, 640);
  return (
    <Link to="/reports/$" params={{ _splat: report.name }} className={styles.preview}>
      <span className={styles.picture}>
        {src && <img src={src} alt="" />}
        {error && <span className="secondary">{t('reports.notAvailable')}</span>}
      </span>
      <strong>{titleOf(report)}</strong>
      <span className="secondary">{report.summary}</span>
    </Link>
  );
}
