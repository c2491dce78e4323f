import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Icons of the pages and of the built-in metamodel. */
const used = `
account_tree add add_link apartment apps arrow_back arrow_downward arrow_forward arrow_upward attach_file bar_chart bolt bookmark
call_merge corporate_fare calendar_month cancel category chat check check_circle checklist checkbook chevron_left chevron_right circle
close cloud code content_copy dark_mode database delete description device_hub dns domain download draw edit event 
explore family_history filter_alt fit_screen flag flight_takeoff folder fullscreen group grid_view group_work history home hub inbox info route
inventory_2 keyboard_arrow_down keyboard_arrow_right layers light_mode link link_off list lock login logout map memory
menu more_horiz notifications open_in_new person pie_chart print publish keep query_stats refresh rocket_launch save schedule
schema search settings share shield star star-fill storefront sync_alt swap_horiz swap_vert sync table table_chart task_alt
tune function unfold_more person_add alternate_email reply attach_money cloud_sync inventory undo webhook public bug_report gavel policy edit_calendar repeat upload verified view_column view_list visibility warning work workspaces edit_note block quiz sync_problem add_circle upload_file
`
  .split(/\s+/)
  .filter(Boolean);

/** Writes the icons that pages bundle, and all in small files, one of which is loaded for an icon that only a type has. */
export function writeIcons(): void {
  const folder = path.resolve(import.meta.dirname, '../node_modules/@material-symbols/svg-400/rounded');
  const pathOf = (file: string) => / d="([^"]+)"/.exec(readFileSync(path.join(folder, file), 'utf8'))?.[1];

  const all = Object.fromEntries(
    readdirSync(folder)
      .filter((file) => file.endsWith('.svg') && (file === 'star-fill.svg' || !file.endsWith('-fill.svg')))
      .flatMap((file) => {
        const d = pathOf(file);
        return d === undefined ? [] : [[path.basename(file, '.svg'), d]];
      }),
  );
  const missing = used.filter((name) => !(name in all));
  if (missing.length > 0) throw new Error(`There are no such icons: ${missing.join(', ')}`);
  const lines = used.sort().map((name) => `  '${name}': '${all[name]}',`);
  const target = path.resolve(import.meta.dirname, 'src/generated');
  mkdirSync(target, { recursive: true });
  writeFileSync(
    path.join(target, 'icons.ts'),
    `// Material Symbols, rounded, weight 400 (Apache-2.0), written by web/icons.ts\nexport const icons = {\n${lines.join('\n')}\n} as const;\n`,
  );
  const files = path.join(target, 'icons');
  rmSync(files, { recursive: true, force: true });
  mkdirSync(files);
  const byPrefix = Object.groupBy(Object.entries(all), ([name]) => name.slice(0, 2));
  for (const [prefix, own] of Object.entries(byPrefix))
    writeFileSync(path.join(files, `${prefix}.json`), JSON.stringify(Object.fromEntries(own!)));
}
