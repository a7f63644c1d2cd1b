#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""tools/deploy/k8s: objects are whole, names of one are those of another, and nobody may do more than needed."""
import glob
import os
import re
import subprocess
import unittest

import yaml

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
DIRECTORY = os.path.join(TOP, "tools/deploy/k8s")
# What a node must be left with, whatever a pod does.
MOST_MEMORY_MI = 256
# ip and tc; nobody here loads modules, which KMM does.
CAPABILITIES = {"NET_ADMIN"}
SECTIONS = {"net", "device", "onramp", "tlt"}


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def objects():
    """{kind: object} of all manifests."""
    found = {}
    for path in sorted(glob.glob(os.path.join(DIRECTORY, "*.yaml"))):
        for one in yaml.safe_load_all(text_of(path)):
            if one["kind"] in found:
                raise ValueError(f"{path}: a second {one['kind']}")
            found[one["kind"]] = one
    return found


VERSION = text_of(os.path.join(TOP, "VERSION")).strip()
ALL = objects()
MODULE = ALL["Module"]["spec"]
DAEMON = ALL["DaemonSet"]["spec"]
POD = DAEMON["template"]["spec"]
CONTAINERS = POD["containers"]


def images():
    return [container["image"] for container in CONTAINERS] + \
        [mapping["containerImage"] for mapping in MODULE["moduleLoader"]["container"]["kernelMappings"]]


class Objects(unittest.TestCase):
    def test_objects__are_those_of_the_readme(self):
        self.assertEqual({kind: one["apiVersion"] for kind, one in ALL.items()},
                         {"Namespace": "v1", "ConfigMap": "v1", "DaemonSet": "apps/v1",
                          "Module": "kmm.sigs.x-k8s.io/v1beta1"})

    def test_objects__have_a_name_and_the_namespace(self):
        space = ALL["Namespace"]["metadata"]["name"]
        for kind, one in ALL.items():
            self.assertTrue(one["metadata"]["name"], kind)
            if kind != "Namespace":
                self.assertEqual(one["metadata"]["namespace"], space, kind)

    def test_files__each_manifest_is_in_the_readme(self):
        readme = text_of(os.path.join(DIRECTORY, "README.md"))
        for name in os.listdir(DIRECTORY):
            self.assertIn(name, readme + "README.md")


class Images(unittest.TestCase):
    def test_images__have_the_version_of_the_tree(self):
        for image in images():
            tag = image.rpartition(":")[2]
            self.assertRegex(tag, rf"^{re.escape(VERSION)}(-\$\{{KERNEL_FULL_VERSION\}})?$", image)

    def test_images__of_builders_have_a_version(self):
        for path in glob.glob(os.path.join(DIRECTORY, "Dockerfile.*")):
            bases = re.findall(r"^FROM (\S+)", text_of(path), re.MULTILINE)
            self.assertEqual(len(bases), 2, path)
            for base in bases:
                self.assertRegex(base, r":\d+\.\d+(-slim)?$", path)

    def test_readme__builds_those_images(self):
        readme = text_of(os.path.join(DIRECTORY, "README.md"))
        for image in images():
            self.assertIn(image.replace("${KERNEL_FULL_VERSION}", ""), readme)


class Modules(unittest.TestCase):
    CONTAINER = MODULE["moduleLoader"]["container"]

    def test_modules__are_those_of_the_tree(self):
        listed = set(subprocess.check_output([os.path.join(TOP, "packaging/modules")], text=True).split()[1::2])
        self.assertEqual(set(self.CONTAINER["modprobe"]["modulesLoadingOrder"]), listed)

    def test_modules__the_first_of_the_order_is_the_named_one(self):
        # KMM refuses it otherwise.
        modprobe = self.CONTAINER["modprobe"]
        self.assertEqual(modprobe["modulesLoadingOrder"][0], modprobe["moduleName"])

    def test_modules__nicstamp_is_loaded_first(self):
        # The list is read from its end.
        self.assertEqual(self.CONTAINER["modprobe"]["modulesLoadingOrder"][-1], "nicstamp")

    def test_modules__are_in_the_image(self):
        dockerfile = text_of(os.path.join(DIRECTORY, "Dockerfile.modules"))
        for name in self.CONTAINER["modprobe"]["modulesLoadingOrder"]:
            self.assertIn(f"'{name}.ko'", dockerfile)

    def test_mappings__match_kernels_of_debian(self):
        patterns = [mapping["regexp"] for mapping in self.CONTAINER["kernelMappings"]]
        for release in ("6.1.0-28-amd64", "6.12.117-1-cloud-amd64", "6.12.9-4-arm64"):
            self.assertTrue(any(re.match(pattern, release) for pattern in patterns), release)
        self.assertFalse(any(re.match(pattern, "5.14.0-503.el9.x86_64") for pattern in patterns))

    def test_version__is_that_of_the_tree(self):
        self.assertEqual(self.CONTAINER["version"], VERSION)

    def test_nodes__are_chosen_by_a_label(self):
        self.assertTrue(set(MODULE["selector"]) - {"kubernetes.io/os"})


class Daemon(unittest.TestCase):
    def test_labels__match_the_selector(self):
        labels = DAEMON["template"]["metadata"]["labels"]
        for name, value in DAEMON["selector"]["matchLabels"].items():
            self.assertEqual(labels.get(name), value)

    def test_nodes__are_those_that_the_module_is_ready_on(self):
        meta = ALL["Module"]["metadata"]
        self.assertEqual(POD["nodeSelector"], {f"kmm.node.kubernetes.io/{meta['namespace']}.{meta['name']}.ready": ""})

    def test_update__takes_one_node_after_the_other(self):
        self.assertEqual(DAEMON["updateStrategy"]["rollingUpdate"]["maxUnavailable"], 1)
        self.assertGreater(DAEMON["minReadySeconds"], 0)

    def test_pod__has_the_nodes_network_and_no_token(self):
        self.assertTrue(POD["hostNetwork"])
        self.assertFalse(POD["automountServiceAccountToken"])

    def test_containers__are_limited(self):
        for container in CONTAINERS:
            limits = container["resources"]["limits"]
            self.assertLessEqual(int(limits["memory"].removesuffix("Mi")), MOST_MEMORY_MI, container["name"])
            self.assertTrue(limits["cpu"])
            self.assertEqual(set(container["resources"]["requests"]), {"cpu", "memory"})

    def test_containers__may_do_no_more_than_needed(self):
        for container in CONTAINERS:
            context = container["securityContext"]
            self.assertNotIn("privileged", context)
            self.assertFalse(context["allowPrivilegeEscalation"])
            self.assertTrue(context["readOnlyRootFilesystem"])
            self.assertEqual(context["capabilities"]["drop"], ["ALL"])
            self.assertEqual(set(context["capabilities"]["add"]), CAPABILITIES)

    def test_volumes__are_those_that_are_mounted(self):
        mounted = {mount["name"] for container in CONTAINERS for mount in container["volumeMounts"]}
        self.assertEqual(mounted, {volume["name"] for volume in POD["volumes"]})

    def test_volumes__of_the_node_are_few(self):
        paths = {volume["hostPath"]["path"] for volume in POD["volumes"] if "hostPath" in volume}
        self.assertEqual(paths, {"/run/turnpike", "/var/lib/node_exporter/textfile_collector"})

    def test_end__takes_back_what_was_set(self):
        profile = next(container for container in CONTAINERS if container["name"] == "profile")
        self.assertEqual(profile["lifecycle"]["preStop"]["exec"]["command"], ["turnpike", "down"])
        self.assertIn("turnpike up --all", profile["command"][-1])


class Config(unittest.TestCase):
    def test_config__is_what_the_daemon_mounts(self):
        names = {volume["configMap"]["name"] for volume in POD["volumes"] if "configMap" in volume}
        self.assertEqual(names, {ALL["ConfigMap"]["metadata"]["name"]})

    def test_config__has_sections_that_turnpike_knows(self):
        text = ALL["ConfigMap"]["data"]["turnpike.conf"]
        sections = {section.split()[0] for section in re.findall(r"^\[(.*)\]$", text, re.MULTILINE)}
        self.assertTrue(sections)
        self.assertLessEqual(sections, SECTIONS)


if __name__ == "__main__":
    unittest.main()
