import account from './de/account.json';
import card from './de/card.json';
import dashboards from './de/dashboards.json';
import explorer from './de/explorer.json';
import home from './de/home.json';
import importing from './de/import.json';
import inventory from './de/inventory.json';
import keys from './de/keys.json';
import kit from './de/kit.json';
import map from './de/map.json';
import query from './de/query.json';
import reasons from './de/reasons.json';
import reports from './de/reports.json';

/** All texts in German: a file for each feature, `kit` for what they share. */
export const german = {
  ...account,
  ...card,
  ...dashboards,
  ...explorer,
  ...home,
  ...importing,
  ...inventory,
  ...keys,
  ...kit,
  ...map,
  ...query,
  ...reasons,
  ...reports,
};
