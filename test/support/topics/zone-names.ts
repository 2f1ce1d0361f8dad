/** Names of the tz database that `Intl` accepts without listing them: links to other names. */
const links = `
Africa/Asmera Africa/Timbuktu America/Argentina/ComodRivadavia America/Atka America/Buenos_Aires
America/Catamarca America/Coral_Harbour America/Cordoba America/Ensenada America/Fort_Wayne
America/Godthab America/Indianapolis America/Jujuy America/Knox_IN America/Louisville
America/Mendoza America/Montreal America/Nipigon America/Pangnirtung America/Porto_Acre
America/Rainy_River America/Rosario America/Santa_Isabel America/Shiprock America/Thunder_Bay
America/Virgin America/Yellowknife Antarctica/South_Pole Asia/Ashkhabad Asia/Calcutta
Asia/Choibalsan Asia/Chongqing Asia/Chungking Asia/Dacca Asia/Harbin Asia/Istanbul Asia/Kashgar
Asia/Katmandu Asia/Macao Asia/Rangoon Asia/Saigon Asia/Tel_Aviv Asia/Thimbu Asia/Ujung_Pandang
Asia/Ulan_Bator Atlantic/Faeroe Atlantic/Jan_Mayen Australia/ACT Australia/Canberra
Australia/Currie Australia/LHI Australia/NSW Australia/North Australia/Queensland Australia/South
Australia/Tasmania Australia/Victoria Australia/West Australia/Yancowinna Brazil/Acre
Brazil/DeNoronha Brazil/East Brazil/West Canada/Atlantic Canada/Central Canada/Eastern
Canada/Mountain Canada/Newfoundland Canada/Pacific Canada/Saskatchewan Canada/Yukon
Chile/Continental Chile/EasterIsland Etc/GMT Etc/GMT+0 Etc/GMT-0 Etc/GMT0 Etc/Greenwich Etc/UCT
Etc/UTC Etc/Universal Etc/Zulu Europe/Belfast Europe/Kiev Europe/Nicosia Europe/Tiraspol
Europe/Uzhgorod Europe/Zaporozhye Mexico/BajaNorte Mexico/BajaSur Mexico/General Pacific/Enderbury
Pacific/Johnston Pacific/Ponape Pacific/Samoa Pacific/Truk Pacific/Yap US/Alaska US/Aleutian
US/Arizona US/Central US/East-Indiana US/Eastern US/Hawaii US/Indiana-Starke US/Michigan
US/Mountain US/Pacific US/Samoa
`
  .trim()
  .split(/\s+/)

/** Every name of a time zone that a series may have. */
export const zoneNames: readonly string[] = [
  ...new Set([...Intl.supportedValuesOf('timeZone'), ...links]),
].filter(name => name.includes('/'))
