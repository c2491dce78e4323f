import account from './de/account.json';
import card from './de/card.json';
import home from './de/home.json';
import inventory from './de/inventory.json';
import kit from './de/kit.json';
import map from './de/map.json';
import reports from './de/reports.json';

/** All texts in German: a file for each feature, `kit` for what they share. */
export const german = { ...account, ...card, ...home, ...inventory, ...kit, ...map, ...reports };
