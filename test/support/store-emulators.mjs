// Prints, as JSON, where the emulators of stores are, which are installed into the cache first: { gcs, azure }.
import { findAzureEmulator, findGcsEmulator } from '../../scripts/services/store-emulators.mjs';

const [gcs, azure] = await Promise.all([findGcsEmulator(), findAzureEmulator()]);
process.stdout.write(`\n${JSON.stringify({ gcs, azure })}`);
