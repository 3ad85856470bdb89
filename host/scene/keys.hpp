#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/key.hpp"

namespace carom {

/// One table of the scene file.
struct Table {
    std::string_view name;
    bool repeated = false;  ///< [[name]]
    std::string_view help;
};

/// All keys, table by table in the order of the reference: those of every scene, and after those of their table the
/// ones of registered kinds. Keys of one name that several kinds take are one.
std::span<const Key> scene_keys();
/// All tables that stand at the top of the file, in the order of the reference.
std::span<const Table> scene_tables();

/// The key, or null.
const Key* find_key(std::string_view table, std::string_view name);

/// What [table] is one of the kinds of, as the key of type kKind says; null where there is no such key.
const Key* kind_key(std::string_view table);
/// Whether a kind of the table's thing takes the key.
bool takes(const Key& key, std::string_view kind);
/// Why a key must not stand beside this kind, and why it must: what a message says after the key.
std::string other_kind_text(const Key& key, std::string_view kind);
std::string kind_requires_text(const Key& key, std::string_view kind);

/// What is meant by a name that is none of those: another word for one of them, or one that is misspelt; empty where
/// nobody knows.
/// \param place  whose names they are: the table "fill", or the key "observe.kind"
std::string_view meant_name(std::string_view place, std::string_view word, std::span<const std::string_view> names);
/// The keys that are meant by a word without its table: "physics.gravity" by "gravity".
std::vector<std::string> meant_keys(std::string_view word);

/// The choices of a key as a list.
std::vector<std::string_view> choices_of(const Key& key);
/// What a key takes, in words that follow "must be": `a number from 0 to 1`, `"wall" or "open"`.
std::string allowed_text(const Key& key, int dimension);

/// The reference of all keys as Markdown tables: what docs/scene-file.md holds.
std::string key_reference();

}  // namespace carom
